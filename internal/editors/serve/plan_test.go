package serve_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"adze/internal/editors/serve"
	"adze/internal/text/usage"
	"adze/session/api"
)

// TestAnUndoIsOfThePlanThatWasShown in a session of the server and in one of another process.
func TestAnUndoIsOfThePlanThatWasShown(t *testing.T) {
	plan := "1"
	undo := func(_ context.Context, u api.Undo) (api.UndoResult, error) {
		if u.Plan != "" && u.Plan != plan {
			return api.UndoResult{}, usage.Mistake("look again", "the plan has changed")
		}
		return api.UndoResult{Turns: []string{"t"}, Paths: []string{"change  a.go"}, Plan: plan}, nil
	}
	w := &window{}
	var e *elsewhere
	host := w.host(func() *elsewhere { return e })
	host.Ports.Undo = undo
	e = beside(t, host)
	e.h.ports.Undo = undo
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	for _, id := range []string{s.begin(), "x"} {
		plan = "1"
		if text := s.act(id, "undo", map[string]any{"dry": true}); !strings.Contains(text, `"Plan":"1"`) {
			t.Errorf("%s: the plan is %s", id, text)
		}
		plan = "2"
		if code, text := s.get("POST", "/api/page/"+id+"/undo", `{"plan":"1"}`); code != http.StatusConflict || !strings.Contains(text, "the plan has changed") || !strings.Contains(text, "look again") {
			t.Errorf("%s: an undo of the old plan: %d %s", id, code, text)
		}
		s.act(id, "undo", map[string]any{"plan": "2"})
	}
}

// TestThePageShowsThePlanAnew where an undo was refused, and does that one. A rewind puts the prompt
// back before what was written since.
func TestThePageShowsThePlanAnew(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	plans, did := []string{"a", "b"}, make(chan string, 10)
	h.ports.Undo = func(_ context.Context, u api.Undo) (api.UndoResult, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !u.Dry && u.Plan != "b" {
			return api.UndoResult{}, usage.Mistake("look again", "the plan has changed")
		}
		if !u.Dry {
			did <- u.Plan
		}
		now := plans[0]
		plans = append(plans[1:], now)
		return api.UndoResult{Turns: []string{"mend the race"}, Paths: []string{"change  " + now + ".go"}, Plan: now}, nil
	}
	s := listen(t, h)
	id := s.say(h, "Mend the race", "There is a race")
	page := b.open(s.first())
	page.visit(id, ".end", "")
	page.press("undo")
	page.until(`document.querySelector("dialog[open] .items")?.textContent === "change  a.go"`)
	page.eval(`document.activeElement.click()`)
	page.until(`document.querySelector("dialog[open] .items")?.textContent === "change  b.go" && document.querySelector("dialog .problem").textContent === "the plan has changed; look again" && document.activeElement.textContent === "Put these files back"`)
	if len(did) > 0 {
		t.Errorf("the plan %s was done before it was shown", <-did)
	}
	page.eval(`document.activeElement.click()`)
	page.until(`document.getElementById("trouble").textContent === "Put back: 1 file."`)
	if got := <-did; got != "b" {
		t.Errorf("the plan %s was done", got)
	}
	page.visit(id, ".end", "since written")
	page.press("rewind")
	page.until(wordsOf + ` === "the last prompt\n\nsince written"`)
}
