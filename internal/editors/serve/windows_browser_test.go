package serve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/session"
	"adze/session/api"
)

// TestThePageRenamesForksFindsAndExports: the list of everything does each, and what it says came of
// it is there.
func TestThePageRenamesForksFindsAndExports(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	id := s.say(h, "Mend the race", "There is a race")
	dir := t.TempDir()
	page := b.open(s.first())
	b.call("", "Browser.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": dir})
	page.until(`document.querySelector("#list .row")`)
	page.visit(id, ".end", "")

	page.press("rename")
	page.until(`document.querySelector("dialog[open] input").value === "Mend the race"`)
	b.call(page.ID, "Input.insertText", map[string]any{"text": "The pool, mended"})
	page.key("Enter")
	page.until(`document.getElementById("title").textContent === "The pool, mended" && document.querySelector("#list [aria-current] .name").textContent === "The pool, mended" && document.title.includes("The pool, mended")`)

	for _, e := range []struct{ action, form string }{{"export", "md"}, {"export-html", "html"}, {"export-json", "json"}} {
		page.press(e.action)
		file := filepath.Join(dir, id+"."+e.form)
		eventually(t, file, func() bool { text, err := os.ReadFile(file); return err == nil && string(text) == e.form+" of "+id })
	}

	page.press("search")
	page.until(`document.querySelector("dialog[open] [role=option]")`)
	b.call(page.ID, "Input.insertText", map[string]any{"text": "slots"})
	page.until(`document.querySelector("dialog .options").textContent.includes("… slots …")`)
	page.key("Escape")

	page.press("fork")
	page.until(`location.hash === "#/s/` + id + `-fork" && document.querySelector(".end") && document.getElementById("title").textContent === "a fork"`)
	b.quiet()
}

// TestThePageTakesBack: an undo shows its plan and does it when that was confirmed; a rewind puts the
// prompt back before what was written since.
func TestThePageTakesBack(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	var undone []api.Undo
	plan := h.ports.Undo
	h.ports.Undo = func(ctx context.Context, u api.Undo) (api.UndoResult, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		undone = append(undone, u)
		return plan(ctx, u)
	}
	s := listen(t, h)
	id := s.say(h, "Mend the race", "There is a race")
	page := b.open(s.first())
	page.until(`document.querySelector("#list .row")`)
	page.visit(id, ".end", "")
	page.eval(`document.querySelector(".end [data-act=undo]").click()`)
	page.until(`document.querySelector("dialog[open] .items")?.textContent === "change  pool/pool.go" && document.activeElement.textContent === "Put these files back"`)
	page.key("Escape")
	page.until(`!document.querySelector("dialog").open`)
	page.press("undo")
	page.until(`document.querySelector("dialog[open] .items")`)
	page.eval(`(() => { const b = document.activeElement; b.click(); b.click() })()`)
	page.until(`document.getElementById("trouble").textContent === "Put back: 1 file."`)
	h.mu.Lock()
	if len(undone) != 3 || !undone[0].Dry || !undone[1].Dry || undone[2].Dry {
		t.Errorf("undone: %+v", undone)
	}
	h.mu.Unlock()
	page.visit(id, ".end", "since written")
	page.press("rewind")
	page.until(wordsOf + ` === "the last prompt\n\nsince written"`)
	b.quiet()
}

// TestTwoTabsAndAReload of one session: both show the question, one answers it, the other says so; a
// tab that is loaded anew in the middle of an answer has all of it once.
func TestTwoTabsAndAReload(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	goOn := make(chan struct{})
	turn := h.turn
	h.turn = func(ctx context.Context, c *conversation, text string) session.Result {
		if !strings.Contains(text, "halves") {
			return turn(ctx, c, text)
		}
		message := fmt.Sprintf("m%d", c.ids+1) // that says gives it
		c.who.Observe(session.TextDelta{Message: message, Delta: "The first half. "})
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		c.who.Observe(session.TextDelta{Message: message, Delta: "The second half."})
		c.says(session.Assistant, session.Part{Kind: session.TextPart, Text: "The first half. The second half."})
		return done()
	}
	s := listen(t, h)
	one := b.open(s.first())
	one.until(`document.querySelector("#homelist .welcome")`)
	one.send("publish it")
	one.until(`document.querySelector("form.ask")`)
	id := strings.TrimPrefix(one.eval(`location.hash`), "#/s/")
	two := b.open(s.first())
	two.until(`document.querySelector("#list .row")`)
	two.visit(id, "form.ask", "a draft of this tab")
	one.eval(`document.querySelector("form.ask .main").click()`)
	for _, tab := range []*tab{one, two} {
		tab.until(`!document.querySelector("form.ask") && document.querySelector(".answered")?.textContent.includes("allowed once") && document.querySelector(".end")`)
	}
	two.wants(wordsOf, "a draft of this tab")
	one.send("in halves")
	one.until(`document.querySelector(".turn:last-child").textContent.includes("The first half.")`)
	two.until(`document.querySelector(".turn:last-child").textContent.includes("The first half.")`)
	two.eval(`location.reload()`)
	two.until(`document.querySelector(".turn:last-child")?.textContent.includes("The first half.") && ` + wordsOf + ` === "a draft of this tab"`)
	close(goOn)
	for _, tab := range []*tab{one, two} {
		tab.until(`document.querySelector(".turn:last-child .end")`)
		tab.wants(`[...document.querySelectorAll(".turn:last-child > .prose")].map((e) => e.textContent.trim()).join("|")`, "The first half. The second half.")
	}
	b.quiet()
}

// TestThePageOnAPhoneAndZoomed: by touch the list opens and shuts, also at the session that is shown,
// and no keyboard opens by itself; at 200 % nothing is wider than the window, and the prompt is in view.
func TestThePageOnAPhoneAndZoomed(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	id, asks := s.say(h, "Mend the race", "There is a race"), s.say(h, "Publish", "publish it")
	page := b.open(s.first())
	page.Phone(360, 740)
	page.until(`document.querySelector("#homelist .row")`)
	page.Tap(`#homelist [data-session="` + id + `"]`)
	page.until(`document.querySelector(".end")`)
	for _, to := range []string{id, asks} {
		page.Tap("#burger")
		page.until(`document.body.classList.contains("drawer") && document.getElementById("side").getBoundingClientRect().left === 0`)
		page.Tap(`#list [data-session="` + to + `"]`)
		page.until(`!document.body.classList.contains("drawer") && location.hash === "#/s/` + to + `"`)
	}
	page.until(`document.querySelector("form.ask")`)
	page.until(`(() => { const r = document.querySelector("form.ask [value=deny]").getBoundingClientRect(); return r.top >= 0 && r.bottom <= document.getElementById("foot").getBoundingClientRect().top && r.right <= innerWidth })()`)
	page.Tap("form.ask [value=once]")
	page.until(`document.querySelector(".answered")`)
	page.wants(`document.activeElement.id === "words"`, "false")
	for _, sc := range []string{id, asks, ""} {
		page.eval(`location.hash = "#/` + map[bool]string{true: "s/" + sc}[sc != ""] + `"`)
		for _, size := range [][2]int{{360, 740}, {640, 400}, {320, 480}} { // the second is 1280 by 800 at 200 %
			page.Phone(size[0], size[1])
			page.until(`innerWidth === ` + map[int]string{360: "360", 640: "640", 320: "320"}[size[0]])
			page.wants(`document.documentElement.scrollWidth <= innerWidth && document.getElementById("send").getBoundingClientRect().bottom <= innerHeight && document.getElementById("scroll").clientHeight > 90`, "true")
		}
	}
	page.wants(`matchMedia("(prefers-reduced-motion: reduce)").matches`, "false")
	page.size(360, 740, true)
	page.wants(`document.getAnimations().length`, "0")
	b.quiet()
}
