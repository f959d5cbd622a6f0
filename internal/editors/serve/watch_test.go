package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"adze/internal/live"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// told is one thing that a page is told.
type told struct {
	T      string
	ID     string
	Turns  []string
	Pieces []struct{ ID, HTML string }
	Change struct{ Turn, ID, HTML string }
	Bar    struct {
		State, Mode, Model, Effort string
		Queue, Steered             []string
	}
	HTML  string
	Needs int
}

// watcher reads what a page is told, one by one.
func (s *site) watcher(query string) func() told {
	s.t.Helper()
	resp := s.do(s.request("GET", "/api/page/watch?"+query, ""))
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%d", resp.StatusCode)
	}
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 64<<20)
	var waiting []told
	return func() told {
		for len(waiting) == 0 {
			if !in.Scan() {
				s.t.Fatal("the stream ended")
			}
			if text, is := strings.CutPrefix(in.Text(), "data: "); is {
				if err := json.Unmarshal([]byte(text), &waiting); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		next := waiting[0]
		waiting = waiting[1:]
		return next
	}
}

func until(next func() told, is func(told) bool) told {
	for {
		if n := next(); is(n) {
			return n
		}
	}
}

// TestAPageIsToldWhereAQuestionWasAnswered: another window has the answer while the turn goes on,
// or the turn ends; neither was an answer of the page's user.
func TestAPageIsToldWhereAQuestionWasAnswered(t *testing.T) {
	seen := make(chan error, 1)
	h := &backend{turn: func(ctx context.Context, c *conversation, _ string) session.Result {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		go func() { cancel(<-seen) }()
		_, _ = c.who.Ask(ctx, ask.Permission{Question: tool.Question{Call: "c", Tool: tool.Definition{Name: "bash"}}})
		return done()
	}}
	s := listen(t, h)
	for cause, want := range map[error]string{live.ErrAnswered: "Answered in another window", context.Canceled: "Answered by nobody: the turn has ended"} {
		next := s.watcher("session=" + s.say(h, "", "go"))
		shows := func(text string) {
			until(next, func(n told) bool {
				html := n.Change.HTML
				for _, p := range n.Pieces {
					html += p.HTML
				}
				return strings.Contains(html, text)
			})
		}
		shows(`data-question="`)
		seen <- cause
		shows(want)
	}
}

// TestAPageAnswersOnlyWhatIsOffered: a rule that is not offered, hunks where the call is whole, words
// that are no choice, another question or a late answer change nothing; what is offered is what the
// gate gets.
func TestAPageAnswersOnlyWhatIsOffered(t *testing.T) {
	got := make(chan ask.Answer, 1)
	h := &backend{turn: func(ctx context.Context, c *conversation, _ string) session.Result {
		a, err := c.who.Ask(ctx, ask.Permission{Question: tool.Question{Call: "c", Tool: tool.Definition{Name: "bash"}}, Offers: []ask.Offer{{Rule: "execute(ls)"}, {Rule: "execute(ls **)", Save: "config.json"}}})
		if err != nil {
			return session.Sort(err)
		}
		got <- a
		return done()
	}}
	s := listen(t, h)
	id := s.say(h, "", "go")
	next := s.watcher("session=" + id)
	var question string
	until(next, func(n told) bool {
		html := n.Change.HTML
		for _, p := range n.Pieces {
			html += p.HTML
		}
		_, rest, is := strings.Cut(html, `data-question="`)
		question, _, _ = strings.Cut(rest, `"`)
		return is
	})
	answer := func(body string) int {
		code, _ := s.get("POST", "/api/page/"+id+"/answer", strings.ReplaceAll(body, "QUESTION", question))
		return code
	}
	for body, want := range map[string]int{
		`{"question":"QUESTION","choice":"always","offer":0}`:      http.StatusBadRequest, // it cannot be kept
		`{"question":"QUESTION","choice":"session","offer":2}`:     http.StatusBadRequest,
		`{"question":"QUESTION","choice":"session","offer":-1}`:    http.StatusBadRequest,
		`{"question":"QUESTION","choice":"edits"}`:                 http.StatusBadRequest,
		`{"question":"QUESTION","choice":"try"}`:                   http.StatusBadRequest,
		`{"question":"QUESTION","choice":"once","refused":[1]}`:    http.StatusBadRequest,
		`{"question":"QUESTION","choice":"once","text":"rm -r /"}`: http.StatusBadRequest,
		`{"question":"QUESTION","choice":"yes"}`:                   http.StatusBadRequest,
		`{"question":"another","choice":"once"}`:                   http.StatusForbidden,
		`{"choice":"once"}`:                                        http.StatusForbidden,
	} {
		if code := answer(body); code != want {
			t.Errorf("%s: %d, not %d", body, code, want)
		}
	}
	if len(got) > 0 {
		t.Fatal("one of them was an answer")
	}
	if code := answer(`{"question":"QUESTION","choice":"session","offer":1}`); code != http.StatusOK {
		t.Errorf("what is offered: %d", code)
	}
	if a := <-got; a.Choice != ask.ForSession || a.Offer != 1 {
		t.Errorf("the gate got %+v", a)
	}
	if code := answer(`{"question":"QUESTION","choice":"deny"}`); code != http.StatusConflict {
		t.Errorf("a late answer: %d", code)
	}
}

// TestAPageThatComesBackIsToldTheRest: it says how much it has; where that is not so any more, it is
// told all.
func TestAPageThatComesBackIsToldTheRest(t *testing.T) {
	h := sceneBackend()
	s := listen(t, h)
	id := s.say(h, "", "one")
	ends := func(n int) {
		eventually(t, "the end of the turn", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			ended := 0
			for _, e := range h.logs[session.ID(id)] {
				if e.Type == session.EndEntry {
					ended++
				}
			}
			return ended >= n
		})
	}
	for i, text := range []string{"two", "three"} {
		ends(i + 1)
		s.act(id, "say", map[string]any{"text": text, "queue": true})
	}
	ends(3)
	all := func(query string) (turns, sent []string) {
		next := s.watcher("session=" + id + query)
		until(next, func(n told) bool {
			if n.T == "turns" {
				turns = n.Turns
			}
			if n.T == "turn" {
				sent = append(sent, n.ID)
			}
			return n.T == "whole"
		})
		return turns, sent
	}
	turns, sent := all("")
	if len(turns) != 3 || len(sent) != 3 || sent[0] != turns[2] {
		t.Fatalf("%v %v", turns, sent)
	}
	if _, sent := all("&turns=2&last=" + turns[1]); len(sent) != 2 || sent[1] != turns[1] {
		t.Errorf("with two turns: %v", sent)
	}
	if _, sent := all("&turns=2&last=" + turns[0]); len(sent) != 3 {
		t.Errorf("with another second turn: %v", sent)
	}
}

// TestAPageQueuesAndTakesBack: a message waits for its turn, and goes when it is taken back.
func TestAPageQueuesAndTakesBack(t *testing.T) {
	h := sceneBackend()
	s := listen(t, h)
	id := s.say(h, "", "build it")
	next := s.watcher("session=" + id)
	until(next, func(n told) bool { return n.T == "bar" && n.Bar.State == "running" })
	s.act(id, "say", map[string]any{"text": "behind it", "queue": true})
	until(next, func(n told) bool { return n.T == "bar" && fmt.Sprint(n.Bar.Queue) == "[behind it]" })
	s.act(id, "unqueue", map[string]any{"text": "behind it"})
	until(next, func(n told) bool { return n.T == "bar" && len(n.Bar.Queue) == 0 })
	if code, _ := s.get("POST", "/api/page/"+id+"/unqueue", `{"text":"behind it"}`); code != http.StatusConflict {
		t.Errorf("once more: %d", code)
	}
	if code, _ := s.get("POST", "/api/page/"+id+"/undo", `{}`); code != http.StatusConflict {
		t.Errorf("an undo while a turn runs: %d", code)
	}
	s.act(id, "stop", map[string]any{})
	until(next, func(n told) bool { return n.T == "bar" && n.Bar.State == "idle" })
	s.act(id, "set", map[string]any{"name": "mode", "value": "edits"})
	if code, text := s.get("POST", "/api/page/"+id+"/set", `{"name":"model","value":"ollama/qwen3"}`); code != http.StatusOK || !strings.Contains(text, id) {
		t.Errorf("the model: %d %s", code, text)
	}
	until(next, func(n told) bool { return n.T == "bar" && n.Bar.Model == "ollama/qwen3" && n.Bar.Mode == "edits" })
	if opened, closed := h.counts(); opened != 2 || closed != 1 {
		t.Errorf("opened %d, closed %d", opened, closed)
	}
}

// TestAHunkThatChangedIsNotTakenBack: the hunk is named by what the page has shown.
func TestAHunkThatChangedIsNotTakenBack(t *testing.T) {
	h := sceneBackend()
	reverted := make(chan api.NetHunk, 1)
	h.ports.Revert = func(_ context.Context, n api.NetHunk) session.Result { reverted <- n; return done() }
	s := listen(t, h)
	id := s.begin()
	_, text := s.get("GET", "/api/page/"+id+"/changes", "")
	_, rest, _ := strings.Cut(text, `data-hash=\"`)
	hash, _, _ := strings.Cut(rest, `\"`)
	if code, _ := s.get("POST", "/api/page/"+id+"/revert", `{"file":"pool/pool.go","hunk":0,"hash":"0000000000000000"}`); code != http.StatusConflict {
		t.Errorf("another hunk: %d", code)
	}
	s.act(id, "revert", map[string]any{"file": "pool/pool.go", "hunk": 0, "hash": hash})
	if n := <-reverted; n.File.Path != "pool/pool.go" || n.Number != 0 {
		t.Errorf("%+v", n)
	}
}

// TestTheListSaysWhatNeedsTheUser: one that asks comes first, and is counted.
func TestTheListSaysWhatNeedsTheUser(t *testing.T) {
	h := sceneBackend()
	s := listen(t, h)
	s.say(h, "Publish", "publish it")
	s.say(h, "Build", "build it")
	s.say(h, "Mend", "the race")
	s.say(h, "Other", "another thing")
	n := until(s.watcher("session="), func(n told) bool {
		return n.T == "list" && n.Needs == 1 && strings.Count(n.HTML, `class="group`) == 4
	})
	last := -1
	for _, want := range []string{"Needs you", "Publish", "may edit write pool/pool.go?", "Working", "Build", "task look for checks", "To review", "Mend", "Done", "Other"} {
		at := strings.Index(n.HTML, want)
		if at < last {
			t.Errorf("%q is missing, or in another place: %s", want, n.HTML)
		}
		last = at
	}
}
