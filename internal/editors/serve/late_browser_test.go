package serve_test

import (
	"errors"
	"strings"
	"testing"
)

// slowNet lets a test hold back, count and break requests of the page; done counts the answers
// that the page has dealt with.
const slowNet = `(() => {
  if (window.net) { net.rules = []; net.sent = []; net.done = 0; return; }
  const real = window.fetch;
  window.net = { rules: [], sent: [], done: 0,
    hold(re, broken) { const r = { re, broken }; r.gate = new Promise((go) => { r.go = go; }); net.rules.push(r); },
    go() { for (const r of net.rules) r.go(); net.rules = []; } };
  window.fetch = async (u, o) => {
    if (u.includes("/watch")) return real(u, o);
    net.sent.push(u);
    const r = net.rules.find((r) => r.re.test(u));
    if (r) await r.gate;
    const over = () => setTimeout(() => net.done++);
    if (r?.broken) { over(); throw new TypeError("Failed to fetch"); }
    const a = await real(u, o);
    if (!a.ok) over();
    const json = a.json.bind(a);
    a.json = () => json().finally(over);
    return a;
  };
})()`

// visit shows a session, or with an empty id the overview, and gives the prompt this text.
func (p *tab) visit(id, ready, text string) {
	p.Browser.T.Helper()
	p.eval(`location.hash = "#/` + map[bool]string{true: "s/" + id}[id != ""] + `"`)
	if id == "" {
		ready = `document.body.classList.contains("home")`
	} else {
		ready = `document.querySelector("` + ready + `") && !document.body.classList.contains("home") && document.querySelector("[data-session='` + id + `'][aria-current]")`
	}
	p.until(ready)
	p.eval(slowNet)
	p.eval(`(() => { const w = document.getElementById("words"); w.focus(); w.value = ""; w.dispatchEvent(new Event("input")) })()`)
	if text != "" {
		p.Browser.Call(p.ID, "Input.insertText", map[string]any{"text": text})
	}
}

// press does what a button of the page does.
func (p *tab) press(action string) {
	p.Browser.T.Helper()
	p.eval(`(() => { const b = document.createElement("button"); b.dataset.do = "` + action + `"; document.body.append(b); b.click(); b.remove() })()`)
}

// wants checks what an expression is in the page.
func (p *tab) wants(expression, want string) {
	p.Browser.T.Helper()
	if got := p.eval(expression); got != want {
		p.Browser.T.Errorf("%s is %q, not %q", expression, got, want)
	}
}

const wordsOf = `document.getElementById("words").value`

// TestALateAnswerStaysWithItsSession: whatever comes after the user went on to another session, or
// to another dialog, changes nothing there, and nothing that was written is lost.
func TestALateAnswerStaysWithItsSession(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	h.ports.CheckModel = func(string) error { return errors.New("that model is not for you") }
	s := listen(t, h)
	a, other := s.say(h, "Session A", "There is a race"), s.say(h, "Session B", "There is a race, too")
	busy := s.say(h, "Busy", "build it")
	page := b.open(s.first())
	page.until(`document.querySelector("#list .row")`)

	// A message that was not sent.
	page.visit(a, ".end", "to A")
	page.eval(`net.hold(/\/say$/, true)`)
	page.key("Enter")
	page.until(`net.sent.some((u) => u.endsWith("/say"))`)
	page.eval(`location.hash = "#/s/` + other + `"`)
	page.until(`document.getElementById("title").textContent === "Session B"`)
	page.eval(`net.go()`)
	page.until(`document.getElementById("trouble").textContent.includes("another session")`)
	page.wants(wordsOf, "")
	page.eval(`location.hash = "#/s/` + a + `"`)
	page.until(wordsOf + ` === "to A"`)

	// The same with words that were written since.
	page.eval(`net.hold(/\/say$/, true)`)
	page.key("Enter")
	b.call(page.ID, "Input.insertText", map[string]any{"text": "more"})
	page.eval(`net.go()`)
	page.until(wordsOf + ` === "to A\n\nmore"`)

	// A message that is taken back from the queue, twice at once.
	page.visit(busy, ".steps", "later")
	page.key("Ctrl+Enter")
	page.until(`document.querySelector("#queue button")`)
	b.call(page.ID, "Input.insertText", map[string]any{"text": "half a thought"})
	page.eval(`net.hold(/unqueue/)`)
	page.eval(`(() => { const b = document.querySelector("#queue button"); b.click(); b.click() })()`)
	page.until(`net.sent.some((u) => u.endsWith("/unqueue"))`)
	page.eval(`location.hash = "#/s/` + other + `"`)
	page.until(`document.getElementById("title").textContent === "Session B"`)
	page.eval(`net.go()`)
	page.until(`net.done >= 1`)
	page.wants(`net.sent.filter((u) => u.endsWith("/unqueue")).length`, "1")
	page.wants(wordsOf, "")
	page.eval(`location.hash = "#/s/` + busy + `"`)
	page.until(wordsOf + ` === "later\n\nhalf a thought"`)

	// Dialogs that would open, and one that would close another.
	for _, late := range []struct{ action, request string }{{"mode", "menu"}, {"undo", "undo"}} {
		page.visit(a, ".end", "")
		page.eval(`net.hold(/` + late.request + `$/); document.getElementById("words").blur()`)
		page.press(late.action)
		page.until(`net.sent.some((u) => u.endsWith("/` + late.request + `"))`)
		page.eval(`location.hash = "#/s/` + other + `"`)
		page.until(`document.getElementById("title").textContent === "Session B"`)
		page.eval(`net.go()`)
		page.until(`net.done >= 1`)
		page.wants(`document.querySelector("dialog").open`, "false")
	}
	page.visit(a, ".end", "")
	page.press("review")
	page.until(`document.querySelector("dialog .hunk .diff")`)
	page.eval(`net.hold(/reviewed/); [...document.querySelectorAll("dialog button")].find((b) => b.textContent === "Keep all of it").click()`)
	page.key("Escape")
	page.until(`!document.querySelector("dialog").open`)
	page.press("keys")
	page.until(`document.querySelector("dialog[open] .keys")`)
	page.eval(`net.go()`)
	page.until(`document.getElementById("trouble").textContent.startsWith("Reviewed")`)
	page.wants(`!!document.querySelector("dialog[open] .keys")`, "true")

	// A dialog is about the session that was shown.
	page.key("Escape")
	page.press("rename")
	page.until(`document.querySelector("dialog[open] input")`)
	page.eval(`location.hash = "#/s/` + other + `"`)
	page.until(`document.getElementById("title").textContent === "Session B"`)
	page.wants(`document.querySelector("dialog").open`, "false")

	// Suggestions for words that are gone.
	page.visit(a, ".end", "")
	page.eval(`net.hold(/menu$/)`)
	b.call(page.ID, "Input.insertText", map[string]any{"text": "/"})
	page.until(`net.sent.some((u) => u.endsWith("/menu"))`)
	b.call(page.ID, "Input.insertText", map[string]any{"text": "no command"})
	page.eval(`net.go()`)
	page.until(`net.done >= 1`)
	page.wants(`document.getElementById("menu").hidden`, "true")
	b.quiet()

	// A refusal of what was chosen in a list is said.
	page.press("model")
	page.until(`document.querySelectorAll("dialog [role=option]").length === 2`)
	page.eval(`document.querySelector("dialog [role=option]").click()`)
	page.until(`document.getElementById("trouble").textContent.includes("not for you")`)
}

// TestASessionIsBegunOnce: two messages at once begin one session; what was written goes with it;
// and who went elsewhere meanwhile stays there.
func TestASessionIsBegunOnce(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	other := s.say(h, "Session B", "There is a race, too")
	page := b.open(s.first())
	page.until(`document.querySelector("#list .row")`)
	opened, _ := h.counts()

	page.visit("", "", "one")
	page.eval(`net.hold(/api\/session$/)`)
	page.key("Enter")
	b.call(page.ID, "Input.insertText", map[string]any{"text": "two"})
	page.key("Enter")
	page.eval(`net.go()`)
	page.until(`document.body.textContent.includes("two") && document.querySelectorAll(".you").length === 2 && document.querySelectorAll(".end").length === 2`)
	if now, _ := h.counts(); now != opened+1 {
		t.Errorf("%d sessions were begun", now-opened)
	}

	page.visit("", "", "for a new one")
	page.eval(`net.hold(/api\/session$/)`)
	page.key("Enter")
	page.eval(`location.hash = "#/s/` + other + `"`)
	page.until(`document.getElementById("title").textContent === "Session B"`)
	page.eval(`net.go()`)
	page.until(`net.sent.some((u) => u.endsWith("/say")) && net.done >= 2`)
	page.wants(`location.hash`, "#/s/"+other)

	page.visit("", "", "look at @pool")
	page.until(`!document.getElementById("menu").hidden && location.hash.startsWith("#/s/")`)
	page.wants(wordsOf, "look at @pool")
	page.visit("", "", "a draft")
	page.press("mode")
	page.until(`document.querySelectorAll("dialog[open] [role=option]").length === 3`)
	page.key("Escape")
	page.until(`location.hash.startsWith("#/s/") && ` + wordsOf + ` === "a draft"`)
	b.quiet()
}

// TestFilesOfAPromptStayWithIt: dropped, pasted or chosen, they are sent with the session's next
// message and with no other's, however late they are read.
func TestFilesOfAPromptStayWithIt(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	a, other := s.say(h, "Session A", "There is a race"), s.say(h, "Session B", "There is a race, too")
	page := b.open(s.first())
	page.until(`document.querySelector("#list .row")`)
	page.visit(a, ".end", "")
	// A file in each of the three ways; the picture is one pixel.
	page.eval(`window.carrying = (...all) => { const d = new DataTransfer(); for (const f of all) d.items.add(f); return d }
		window.pixel = new File([Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0))], "pixel.png", {type: "image/png"}); 0`)
	page.eval(`document.getElementById("main").dispatchEvent(new DragEvent("dragover", {bubbles: true, cancelable: true, dataTransfer: carrying(pixel)}))`)
	page.wants(`document.getElementById("say").classList.contains("over")`, "true")
	page.eval(`document.getElementById("main").dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: carrying(pixel)}))`)
	page.until(`document.querySelectorAll("#files img").length === 1 && !document.getElementById("say").classList.contains("over")`)
	page.eval(`document.getElementById("words").dispatchEvent(new ClipboardEvent("paste", {bubbles: true, cancelable: true, clipboardData: carrying(new File(["pasted text"], "notes.txt", {type: "text/plain"}))}))`)
	page.until(`document.querySelectorAll("#files li").length === 2`)
	page.eval(`(() => { const p = document.getElementById("pick"); p.files = carrying(new File(["chosen"], "chosen.txt", {type: "text/plain"})).files; p.dispatchEvent(new Event("change")) })()`)
	page.until(`document.querySelectorAll("#files li").length === 3`)
	page.eval(`document.querySelector("#files li:last-child button").click()`)
	page.until(`document.querySelectorAll("#files li").length === 2`)

	page.visit(other, ".end", "")
	page.wants(`document.querySelectorAll("#files li").length`, "0")
	// One that is read when the user is elsewhere.
	page.eval(`(() => { const real = FileReader.prototype.readAsDataURL; FileReader.prototype.readAsDataURL = function (f) { window.readNow = () => { FileReader.prototype.readAsDataURL = real; real.call(this, f) } } })()`)
	page.eval(`document.getElementById("words").dispatchEvent(new ClipboardEvent("paste", {bubbles: true, cancelable: true, clipboardData: carrying(new File(["late"], "late.txt", {type: "text/plain"}))}))`)
	page.visit(a, ".end", "what are these?")
	page.eval(`readNow()`)
	page.wants(`[...document.querySelectorAll("#files span")].map((e) => e.textContent).join()`, "pixel.png,notes.txt")
	page.key("Enter")
	page.until(`document.querySelector(".turn:last-child .you img.shot") && document.querySelector(".turn:last-child .you").textContent.includes("pasted text") && !document.querySelector("#files li")`)
	page.visit(other, ".end", "")
	page.until(`[...document.querySelectorAll("#files span")].map((e) => e.textContent).join() === "late.txt"`)
	// A folder cannot be read, and is said to be none.
	page.eval(`FileReader.prototype.readAsDataURL = function () { setTimeout(() => this.onerror()) }; document.getElementById("words").dispatchEvent(new ClipboardEvent("paste", {bubbles: true, cancelable: true, clipboardData: carrying(new File(["x"], "src", {}))}))`)
	page.until(`document.getElementById("trouble").textContent.includes("src cannot be read")`)
	b.quiet()
}

// TestEnterAllowsNothing: the browser would press the first button of a form. A reason and Enter is
// a refusal with that reason, and Enter in a box is nothing.
func TestEnterAllowsNothing(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	id := s.say(h, "Publish", "publish it")
	page := b.open(s.first())
	page.until(`document.querySelector("#list .row")`)
	page.visit(id, "form.ask", "")
	page.eval(`document.querySelector(".rules").open = true; document.querySelector("[name=offer]").focus()`)
	page.key("Enter")
	page.eval(`document.querySelector(".ask [name=reason]").focus()`)
	page.key("Enter")
	page.wants(`net.sent.length + " " + document.querySelector(".ask .main").disabled`, "0 false")
	b.call(page.ID, "Input.insertText", map[string]any{"text": "not this file"})
	page.key("Enter")
	page.until(`document.querySelector(".answered")`)
	if got := page.eval(`document.querySelector(".answered").textContent`); !strings.Contains(got, "denied") || !strings.Contains(got, "not this file") {
		t.Errorf("the answer is %q", got)
	}
	b.quiet()
}

// TestCopyAndAgainOnce: a button that is clicked twice does it once, and says what it did for a while.
func TestCopyAndAgainOnce(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	id, failed := s.say(h, "Mend the race", "There is a race"), s.say(h, "Run all", "fail")
	page := b.open(s.first())
	page.until(`document.querySelector("#list .row")`)
	b.call("", "Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}})
	b.call(page.ID, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true})
	page.visit(id, ".end", "")
	for _, c := range []struct{ button, holds string }{{".copy", "func (p *Pool) acquire(ctx context.Context) error {\n\tp.mu.Lock()"}, {"[data-act=copy-answer]", "The lock was taken after the check"}} {
		page.eval(`(() => { window.button = document.querySelector("` + c.button + `"); window.was = button.textContent; button.click(); button.click() })()`)
		page.until(`button.textContent === "Copied"`)
		if got := page.eval(`navigator.clipboard.readText()`); !strings.Contains(got, c.holds) {
			t.Errorf("copied: %q", got)
		}
		page.eval(`button.click()`)
		page.until(`button.textContent === was`)
	}
	page.visit(failed, ".fail", "")
	page.eval(`(() => { const b = document.querySelector(".fail [data-act=again]"); b.click(); b.click() })()`)
	page.until(`net.done >= 1`)
	page.wants(`net.sent.filter((u) => u.endsWith("/again")).length + document.getElementById("trouble").textContent`, "1")
	b.quiet()
}
