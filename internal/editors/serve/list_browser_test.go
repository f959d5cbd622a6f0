package serve_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// listBackend is a backend with two folders and sessions in all states; nothing in it is opened by
// who only looks.
func listBackend(t *testing.T) (*backend, *site) {
	t.Helper()
	h := twoFolders()
	s := listen(t, h)
	s.say(h, "Publish the pool package", "publish it")
	s.say(h, "Build the release", "build it")
	s.say(h, "Mend the race", "There is a race")
	eventually(t, "an end", func() bool { return len(h.ends("s3")) == 1 })
	return h, s
}

// TestTheListByKeyboard: to the list, look into a row, pin, tag, rename and stop it, mark it as
// reviewed, filter and group by folder, each by a key; the focus is never lost, and nothing opens.
func TestTheListByKeyboard(t *testing.T) {
	b := newBrowser(t)
	h, s := listBackend(t)
	page := b.open(s.first())
	page.size(1280, 800, false)
	page.until(`innerWidth === 1280 && document.querySelectorAll("#list .row").length === 5`)
	if got := page.eval(`[...document.querySelectorAll(".row a")].filter((a) => a.offsetParent).length`); got != "5" {
		t.Errorf("the first screen shows %s rows of five sessions", got)
	}
	on := func(title string) {
		t.Helper()
		page.until(`document.activeElement.closest(".row")?.querySelector(".name").textContent.endsWith("` + title + `")`)
	}
	page.key("Alt+l")
	on("Publish the pool package")
	page.key(" ")
	page.until(`document.querySelector(".peek .asks")?.textContent === "asks: may edit write pool/pool.go?"`)
	page.key("ArrowDown")
	on("Build the release")
	page.key("s")
	page.until(`document.querySelector("#list .working") === null`)
	on("Build the release")
	page.key("Home")
	page.key("ArrowDown")
	on("Mend the race")
	page.key(" ")
	page.until(`document.querySelector("#list .review .peek")?.textContent.includes("Changed 2 files: pool/pool.go, pool/pool_test.go") && document.querySelectorAll(".peek").length === 1`)
	if got := page.eval(`document.querySelector(".peek .said").textContent.includes("two workers could both see a free slot")`); got != "true" {
		t.Error("the peek has no last words")
	}
	page.key("v")
	page.until(`!document.querySelector(".group.review")`)
	on("Mend the race")
	page.key("p")
	page.until(`document.querySelector("#list .pinned .name").textContent === "Pinned: Mend the race" && document.querySelector("#list .done .row").classList.contains("pinned")`)
	on("Mend the race")
	page.key("t")
	page.until(`document.querySelector("dialog[open] input")`)
	b.call(page.id, "Input.insertText", map[string]any{"text": "keep"})
	page.key("Enter")
	page.until(`document.querySelector("#list .pinned .tag")?.textContent === "keep" && !document.querySelector("dialog[open]")`)
	on("Mend the race")
	page.key("r")
	page.until(`document.querySelector("dialog[open] input")?.value === "Mend the race"`)
	b.call(page.id, "Input.insertText", map[string]any{"text": "The race"})
	page.key("Enter")
	page.until(`document.querySelector("#list .pinned .name").textContent === "Pinned: The race"`)
	on("The race")
	page.key("Escape")
	page.until(`!document.querySelector(".peek")`)
	on("The race")
	page.key("g")
	page.until(`[...document.querySelectorAll("#list .group h2")].map((h) => h.textContent).join(" ") === "No folder ~/src/pool ~/src/site"`)
	on("The race")
	page.key("f")
	page.until(`document.activeElement.matches("#list .filter")`)
	b.call(page.id, "Input.insertText", map[string]any{"text": "src/site"})
	page.until(`document.querySelectorAll("#list .row").length === 1 && document.activeElement.matches("#list .filter")`)
	page.key("ArrowDown")
	on("Session there")
	page.key("g")
	page.key("f")
	page.key("Escape")
	page.until(`document.querySelectorAll("#list .row").length === 5 && document.activeElement.value === ""`)
	if got := page.eval(`location.hash`); got != "#/" {
		t.Errorf("something was opened: %s", got)
	}
	if opened, _ := h.counts(); opened != 3 {
		t.Errorf("%d sessions were opened", opened)
	}
	page.key("Escape")
	page.key("?")
	page.until(`document.querySelector("dialog .keys")?.textContent.includes("In the list: look into the session")`)
	b.quiet()
}

// TestTheListByTouch: at 360 px taps look into a row and pin it, and begin a session in the other
// folder.
func TestTheListByTouch(t *testing.T) {
	b := newBrowser(t)
	h, s := listBackend(t)
	page := b.open(s.first())
	page.size(360, 740, false)
	b.call(page.id, "Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true})
	b.call(page.id, "Emulation.setEmitTouchEventsForMouse", map[string]any{"enabled": true, "configuration": "mobile"})
	page.until(`document.querySelectorAll("#homelist .row").length === 5`)
	tap := func(what string) {
		t.Helper()
		page.until(`(() => { const e = document.querySelector('` + what + `'); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); window.at = {x: r.x + r.width / 2, y: r.y + r.height / 2}; return getComputedStyle(e).opacity === "1" && e.contains(document.elementFromPoint(at.x, at.y)) })()`)
		var at struct{ X, Y float64 }
		if err := json.Unmarshal([]byte(page.eval(`JSON.stringify(at)`)), &at); err != nil {
			t.Fatal(err)
		}
		b.call(page.id, "Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []any{map[string]any{"x": at.X, "y": at.Y}}})
		b.call(page.id, "Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}})
	}
	tap(`#homelist [data-folder$=site] .more`)
	page.until(`document.querySelector(".peek")?.textContent.includes("Changed 1 file: file-of-there")`)
	tap(`.peek [data-row=p]`)
	page.until(`document.querySelector("#homelist .pinned[data-folder$=site] .peek [data-row=p]")?.textContent === "Unpin"`)
	tap(`#homelist [data-folder$=site] .more`)
	page.until(`!document.querySelector(".peek")`)
	tap(`#where`)
	page.until(`document.querySelectorAll("dialog[open] [role=option]").length === 2`)
	tap(`#option1`)
	page.until(`document.getElementById("where").textContent === "in site" && document.getElementById("mode").offsetParent === null && document.getElementById("folder").textContent.endsWith("~/src/site")`)
	page.send("a new page of the site")
	page.until(`location.hash === "#/s/b6" && document.querySelector(".you")?.textContent.includes("a new page of the site")`)
	if head, err := h.Session(t.Context(), "b6"); err != nil || !strings.HasSuffix(head.Info().Cwd, "/site") {
		t.Errorf("%+v %v", head, err)
	}
	if got := page.eval(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
		t.Error("the page is wider than the window")
	}
	b.quiet()
}
