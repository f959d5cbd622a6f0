package serve_test

import (
	"os"
	"path/filepath"
	"testing"
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
