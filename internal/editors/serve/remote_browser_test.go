//go:build linux || darwin

package serve_test

import (
	"strings"
	"testing"

	"adze/internal/editors/serve"
	"adze/internal/live"
	"adze/session"
)

// TestThePageControlsASessionOfAnotherProcess in a browser: a command after a slash, a file after @,
// a prompt of the past, the mode, undo with its plan, and a hunk that is taken back.
func TestThePageControlsASessionOfAnotherProcess(t *testing.T) {
	b := newBrowser(t)
	w := &window{}
	var e *elsewhere
	e = beside(t, w.host(func() *elsewhere { return e }))
	e.says("m1", session.User, "mend the race")
	e.says("m2", session.Assistant, "It is mended.")
	e.h.store("x", session.EndEntry, done())
	e.Observe(session.TurnEnd{Result: done()})
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	untilFound(s.watcher("session=x"))
	page := b.open(s.url + "/#" + s.token)
	page.eval(`location.hash = "#/s/x"`)
	page.until(`document.body.textContent.includes("It is mended.") && document.getElementById("mode").textContent === "Asks first"`)
	page.eval(`document.getElementById("words").focus()`)
	typed := func(text string) {
		t.Helper()
		page.eval(`document.getElementById("words").value = ""`)
		b.call(page.id, "Input.insertText", map[string]any{"text": text})
	}
	typed("/proj")
	page.until(`!document.getElementById("menu").hidden && document.getElementById("menu").textContent.includes("/project:fix")`)
	page.key("Escape")
	typed("look at @pool.g")
	page.until(`document.querySelector("#menu li code")?.textContent === "pool/pool.go"`)
	page.key("Enter")
	page.until(`document.getElementById("words").value === "look at @pool/pool.go "`)
	page.key("Enter")
	if act := <-e.acts; act != `{"type":"steer","text":"look at @pool/pool.go "}` {
		t.Errorf("the owner got %s", act)
	}
	page.until(`document.getElementById("words").value === ""`)
	page.key("ArrowUp")
	page.key("ArrowUp")
	page.until(`document.getElementById("words").value === "the prompt before"`)
	typed("!make")
	page.key("Enter")
	page.until(`document.getElementById("words").value === ""`)
	page.key("Alt+p")
	page.until(`document.querySelectorAll("dialog [role=option]").length === 3`)
	e.mu.Lock()
	e.works = live.Works{Mode: "edits", Queued: []string{"then rest"}}
	e.mu.Unlock()
	page.key("ArrowDown")
	page.key("Enter")
	page.until(`!document.querySelector("dialog[open]")`)
	e.Refresh() // as its window does
	page.until(`document.getElementById("mode").textContent === "Edits freely" && document.querySelector("#queue .text")?.textContent === "then rest"`)
	page.key("Alt+u")
	page.until(`document.querySelector("dialog .items")?.textContent.includes("change  pool/pool.go")`)
	page.eval(`document.querySelector("dialog button.main").click()`)
	page.until(`!document.querySelector("dialog[open]") && document.body.textContent.includes("Put back: 1 file.")`)
	page.key("Alt+r")
	page.until(`document.querySelector("dialog .hunk .diff")`)
	page.eval(`document.querySelector("dialog [data-act=revert]").click()`)
	page.until(`document.querySelector("dialog .hunk [role=status]")?.textContent.includes("taken back")`)
	did := w.took()
	for _, want := range []string{"run make", "mode edits", "undo dry=true redo=false", "undo dry=false redo=false", "revert pool/pool.go0 true"} {
		if !strings.Contains(did, want) {
			t.Errorf("%q is not among what the owner did: %s", want, did)
		}
	}
	b.quiet()
}
