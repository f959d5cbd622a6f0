package serve_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/editors/serve"
	"adze/internal/testkit/nodetest"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// TestThePageIsAccessible: axe-core finds nothing in any scene, dark or light, wide or narrow, and in
// no dialog. Only rules of colours depend on dark and light together with the width.
func TestThePageIsAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(nodetest.Modules(t, "axe-core"), "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	scenes := []struct{ name, id, ready string }{
		{"overview", "", "#homelist .row"},
		{"finished", s.say(h, "Mend the race", "There is a race"), ".end"},
		{"streaming", s.say(h, "Why?", "stream it"), ".code"},
		{"question", s.say(h, "Publish", "publish it"), "form.ask"},
		{"command", s.say(h, "Build", "build it"), ".steps"},
		{"error", s.say(h, "Run all", "fail"), ".fail"},
	}
	page := b.open(s.first())
	b.call(page.id, "Page.setBypassCSP", map[string]any{"enabled": true}) // for axe alone
	page.eval(`location.reload()`)
	page.until(`document.querySelector("#list .row")`)
	page.eval(string(axe) + `;0`)
	look := func(where, only string) {
		if got := page.eval(`axe.run(document, {resultTypes: ["violations"], ` + only + `}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 160) + " " + n.any.concat(n.all).map((c) => c.message).join("; ")).join("\n    ")).join("\n"))`); got != "" {
			t.Errorf("%s:\n%s", where, got)
		}
	}
	everywhere := func(what string) {
		for _, width := range []int{360, 1280} {
			for _, dark := range []bool{false, true} {
				page.size(width, 800, dark)
				only := `runOnly: ["color-contrast", "link-in-text-block"]`
				if dark == (width > 800) {
					only = ""
				}
				look(fmt.Sprintf("%s at %d, dark %v", what, width, dark), only)
			}
		}
	}
	for _, sc := range scenes {
		page.eval(`location.hash = "#/` + map[bool]string{true: "s/" + sc.id}[sc.id != ""] + `"`)
		page.until(`document.querySelector("` + sc.ready + `")`)
		everywhere(sc.name)
	}
	page.eval(`location.hash = "#/"`)
	page.eval(`document.querySelector("#homelist .review .more").click()`)
	page.until(`document.querySelector(".peek .said")`)
	everywhere("a peek, by state")
	page.key("Alt+g")
	look("a peek, by folder", "")
	page.key("Alt+g")
	page.eval(`document.querySelector("#homelist .more[aria-expanded=true]").click()`)
	for _, action := range []string{"keys", "palette", "search", "model", "mode", "review", "undo", "rename"} {
		page.eval(`location.hash = "#/s/` + scenes[1].id + `"`)
		page.eval(`document.body.append(Object.assign(document.createElement("button"), {id: "poke"}))`)
		page.eval(`(() => { const b = document.getElementById("poke"); b.dataset.do = "` + action + `"; b.click(); b.remove() })()`)
		page.until(`document.querySelector("dialog[open] .dbody > *")`)
		look("dialog "+action, "")
		page.key("Escape")
		page.until(`!document.querySelector("dialog[open]")`)
	}
}

// TestThePageByKeyboardAlone: begin a session, find its question, allow it by a rule, read the list
// of keys, choose a mode and another session, review and stop: no key is a mouse.
func TestThePageByKeyboardAlone(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	page := b.open(s.first())
	page.until(`document.querySelector("#homelist .welcome") && document.activeElement.id === "words"`)
	page.send("publish it")
	page.until(`document.querySelector("form.ask")`)
	page.key("Alt+a")
	page.until(`document.activeElement.value === "once"`)
	page.eval(`document.querySelector("details.rules > summary").focus()`)
	page.key("Enter")
	page.until(`document.querySelector("details.rules").open`)
	page.key("Tab")
	page.key("ArrowDown")
	page.until(`document.querySelector("[name=offer]:checked").value === "1"`)
	page.key("Tab")
	page.key("Tab")
	page.until(`document.activeElement.value === "always"`)
	page.key("Enter")
	page.until(`document.querySelector(".answered")?.textContent.includes("allowed from now on: write(**)") && document.activeElement.id === "words"`)
	page.until(`document.querySelector(".end")`)
	page.key("Alt+p")
	page.until(`document.querySelectorAll("dialog [role=option]").length === 3`)
	page.key("ArrowDown")
	page.key("Enter")
	page.until(`document.getElementById("mode").textContent === "Edits freely" && document.activeElement.id === "words"`)
	page.key("Alt+r")
	page.until(`document.querySelector("dialog .hunk .diff")`)
	page.key("Escape")
	page.until(`!document.querySelector("dialog").hasChildNodes() && document.activeElement.id === "words"`)
	// The browser may lose a key, or hold it back, while it gives the focus back behind a dialog. Then
	// the text comes by itself: what opens the menu is the text.
	page.key("/")
	typed := page.eval(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(document.getElementById("words").value), 200)))`)
	if typed != "/" {
		page.eval(`document.getElementById("words").focus(); document.getElementById("words").value = ""`)
		b.call(page.id, "Input.insertText", map[string]any{"text": "/"})
	}
	page.until(`!document.getElementById("menu").hidden && document.getElementById("menu").textContent.includes("/project:fix")`)
	page.key("Escape")
	page.eval(`document.getElementById("words").value = ""`)
	page.key("ArrowUp")
	page.until(`document.getElementById("words").value === "publish it" || document.getElementById("words").value === "the prompt before"`)
	page.eval(`document.getElementById("words").value = ""`)
	b.call(page.id, "Input.insertText", map[string]any{"text": "look at @pool"})
	page.until(`document.querySelector("#menu li code")?.textContent === "pool/pool.go" || document.querySelector("#menu li code")?.textContent === "pool/"`)
	page.key("ArrowDown")
	page.key("Enter")
	page.until(`document.getElementById("words").value.includes("@pool/")`)
	page.eval(`document.getElementById("words").value = ""`)
	page.key("Escape")
	page.send("build it")
	page.until(`!document.getElementById("stop").hidden`)
	b.call(page.id, "Input.insertText", map[string]any{"text": "and this behind it"})
	page.key("Ctrl+Enter")
	page.until(`document.querySelector("#queue .text")?.textContent === "and this behind it"`)
	page.key("Escape")
	page.key("Escape")
	page.until(`document.body.textContent.includes("Stopped:")`)
	page.key("Alt+o")
	page.until(`document.body.classList.contains("home")`)
	page.eval(`document.activeElement.blur()`)
	page.key("?")
	page.until(`document.querySelector("dialog .keys kbd")`)
	page.key("Escape")
	b.quiet()
}

// TestADialogAfterADialog: what is chosen in one dialog opens the next, and the browser's late word that
// the first is closed does not empty it.
func TestADialogAfterADialog(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	id := s.say(h, "Mend the race", "There is a race")
	page := b.open(s.first())
	page.until(`document.querySelector("#list .row")`)
	page.eval(`location.hash = "#/s/` + id + `"`)
	page.until(`document.querySelector(".end")`)
	page.key("Ctrl+k")
	page.until(`document.querySelector("dialog[open] #options li")`)
	page.eval(`window.closings = 0; document.getElementById("dialog").addEventListener("close", () => closings++)`)
	page.eval(`[...document.querySelectorAll("#options li")].find((li) => li.textContent.includes("List of keys")).click()`)
	page.until(`closings === 1`)
	page.until(`document.querySelector("dialog[open] .keys kbd")`)
	page.key("Escape")
	page.until(`closings === 2 && !document.querySelector("dialog").hasChildNodes() && document.activeElement.id === "words"`)
	b.quiet()
}

// TestThePageComesBack: a server that was killed and is there again is followed again, by itself; what
// the page had stays, and what came meanwhile is there.
func TestThePageComesBack(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	h.wanted = make(chan struct{})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, token := l.Addr().String(), rand.Text()
	begin := func(l net.Listener) func() {
		s := &serve.Server{Backend: h, Token: token, Host: address}
		s.Start(context.Background())
		server := s.HTTP()
		go server.Serve(l)
		return func() { server.Close(); s.Close() }
	}
	kill := begin(l)
	page := b.open("http://" + address + "/#" + token)
	page.until(`document.querySelector("#homelist .welcome")`)
	page.send("rename it")
	page.until(`document.querySelector(".end")`)
	page.eval(`document.querySelector(".turn").dataset.mark = "kept"`)
	id := session.ID(strings.TrimPrefix(page.eval(`location.hash`), "#/s/"))
	kill()
	page.until(`document.getElementById("trouble").textContent.includes("does not answer") || document.getElementById("trouble").textContent.includes("has ended")`)
	h.store(id, session.MessageEntry, session.Message{ID: "late", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "said meanwhile"}}})
	h.store(id, session.EndEntry, done())
	if l, err = net.Listen("tcp4", address); err != nil {
		t.Skip("the port was taken meanwhile:", err)
	}
	kill = begin(l)
	t.Cleanup(kill)
	page.until(`document.body.textContent.includes("said meanwhile") && document.getElementById("trouble").hidden`)
	if got := page.eval(`document.querySelector(".turn").dataset.mark`); got != "kept" {
		t.Error("a turn that the page had was drawn again")
	}
	if got := page.eval(`document.querySelectorAll(".turn").length`); got != "2" {
		t.Errorf("%s turns", got)
	}
}

// TestThePageOfManyTurns: 500 turns and an output of 5,000 lines are drawn in pieces, the newest
// first; what is finished stays the same element while the next answer streams.
func TestThePageOfManyTurns(t *testing.T) {
	b := newBrowser(t)
	goOn := make(chan struct{})
	h := sceneBackend()
	h.turn = func(ctx context.Context, c *conversation, text string) session.Result {
		for i := range 60 {
			c.who.Observe(session.TextDelta{Message: "live", Delta: fmt.Sprintf("Paragraph %d.\n\n", i)})
			if i == 30 {
				select {
				case <-goOn:
				case <-ctx.Done():
				}
			}
		}
		return done()
	}
	s := listen(t, h)
	id := session.ID(s.begin())
	for i := range 500 {
		h.store(id, session.MessageEntry, session.Message{ID: fmt.Sprint("u", i), Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: fmt.Sprint("prompt ", i)}}})
		call := tool.CallID(fmt.Sprint("c", i))
		h.store(id, session.MessageEntry, session.Message{ID: fmt.Sprint("a", i), Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: sceneAnswer}, {Kind: session.CallPart, Call: &tool.RawCall{ID: call, Name: "bash", Arguments: "{}"}}}})
		lines := 20
		if i == 499 {
			lines = 5000
		}
		h.store(id, session.OutcomeEntry, tool.Outcome{Call: call, Tool: "bash", Status: tool.Completed, Heading: tool.Heading{Verb: "$", Object: "make", Shape: tool.Live}, Metadata: encoded([]tool.Block{{Kind: tool.OutputBlock, Text: testOutput(lines), Total: lines + 3}})})
		h.store(id, session.EndEntry, done())
	}
	page := b.open(s.first())
	page.eval(`window.longest = 0; new PerformanceObserver((l) => { for (const e of l.getEntries()) longest = Math.max(longest, e.duration) }).observe({type: "longtask"}); window.begun = performance.now(); location.hash = "#/s/` + string(id) + `"`)
	page.until(`document.querySelector(".turn:last-child")?.textContent.includes("prompt 499")`)
	first := page.eval(`Math.round(performance.now() - begun)`)
	page.until(`document.querySelectorAll(".turn").length === 500 && document.querySelector(".turn").textContent.includes("prompt 0")`)
	t.Logf("the newest turn after %s ms, all 500 after %s ms, the longest task %s ms, first paint %s ms", first, page.eval(`Math.round(performance.now() - begun)`), page.eval(`Math.round(longest)`),
		page.eval(`Math.round(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1)`))
	if got := page.eval(`[...document.querySelectorAll(".you .said")].map((e) => e.textContent).filter((t, i) => t !== "prompt " + i).length`); got != "0" {
		t.Errorf("%s turns are not in their places", got)
	}
	atEnd := `(() => { const s = document.getElementById("scroll"); return s.scrollHeight - s.scrollTop - s.clientHeight < 3 })()`
	page.until(atEnd)
	page.eval(`(() => { const i = document.querySelector(".turn:last-child .find input"); i.value = "worker_3210"; i.dispatchEvent(new Event("input")); i.nextElementSibling.nextElementSibling.click() })()`)
	page.until(`document.querySelector(".turn:last-child .find output").textContent === "1 of 1"`)
	page.send("go on")
	page.until(`document.querySelector(".turn:last-child").textContent.includes("Paragraph 20.")`)
	page.until(atEnd)
	page.eval(`window.kept = document.querySelector(".turn:last-child > .prose"); window.changed = 0; new MutationObserver(() => changed++).observe(kept, {subtree: true, childList: true, characterData: true, attributes: true})`)
	close(goOn)
	page.until(`document.querySelector(".turn:last-child .end")`)
	if got := page.eval(`[kept.isConnected, changed].join(" ")`); got != "true 0" {
		t.Errorf("a finished paragraph was drawn again: %s", got)
	}
	b.quiet()
}

// TestThePageShowsHostileNames: titles, tools, files, folders and outputs of others are text.
func TestThePageShowsHostileNames(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	h.status = serve.Status{Model: attack, Folder: attack, Branch: attack, Mode: attack, Effort: attack}
	h.ports.Files = func(context.Context, func(api.Files)) (api.Files, error) {
		return api.Files{Paths: []string{attack}}, nil
	}
	h.turn = func(_ context.Context, c *conversation, _ string) session.Result {
		for i, kind := range []tool.BlockKind{tool.TextBlock, tool.CodeBlock, tool.DiffBlock, tool.ListBlock, tool.ChecklistBlock, tool.OutputBlock, tool.MarkdownBlock} {
			text := attack
			if kind == tool.DiffBlock {
				text = "@@ -1 +1 @@ " + attack + "\n-" + attack + "\n+" + attack + "\n"
			}
			c.made(fmt.Sprint("t", i, attack), tool.Heading{Verb: attack, Object: attack + "\n" + attack, Result: attack, Note: attack}, tool.Failed, time.Second, attack, tool.Block{Kind: kind, Title: attack, Path: attack, Text: text, Items: []tool.Item{{Text: attack, Note: attack, State: attack}}})
		}
		return session.Result{Cause: session.CauseProvider, Message: attack, Hint: attack, Changed: []string{attack}, Claims: []session.Claim{{Quote: attack, Text: attack}}}
	}
	s := listen(t, h)
	id := s.say(h, attack, attack)
	page := b.open(s.first())
	page.until(`document.querySelector("#homelist .row")`)
	page.eval(`location.hash = "#/s/` + id + `"`)
	page.until(`document.querySelector(".fail")`)
	b.call(page.id, "Input.insertText", map[string]any{"text": "@i"})
	page.until(`document.querySelector("#menu li")`)
	if got := page.eval(`[document.title.includes("<img"), document.querySelectorAll("#list img, #homelist img, #log img, #log a, b, main script, #menu img, #facts img").length, JSON.stringify(broken)].join(" ")`); got != "true 0 []" {
		t.Errorf("a name did something: %s", got)
	}
	if got := page.eval(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
		t.Error("a long name makes the page wider than the window")
	}
	b.quiet()
}
