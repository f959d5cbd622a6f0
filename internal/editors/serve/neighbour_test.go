//go:build linux || darwin

package serve_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/editors/pairing"
	"adze/internal/editors/serve"
	"adze/internal/live"
	"adze/session"
	"adze/tool"
	"adze/tui/permission"
)

// elsewhere is a session x in a house that another process has: its owner is a real one.
type elsewhere struct {
	*live.Owner
	h      *house
	folder string
	acts   chan string

	mu   sync.Mutex
	from []string // who did what, as it is recorded
}

func beside(t *testing.T) *elsewhere {
	t.Helper()
	dir, err := os.MkdirTemp("", "adze") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	e := &elsewhere{h: &house{heads: []session.Head{{ID: "x", Name: "Beside"}}, holder: "adze, pid 7"}, folder: filepath.Join(dir, "s"), acts: make(chan string, 10)}
	e.listens(t)
	return e
}

// listens has a process take the session.
func (e *elsewhere) listens(t *testing.T) {
	t.Helper()
	var err error
	e.Owner, err = live.Listen(live.Config{Folder: e.folder, ID: "x", Below: func(int) string { return "" },
		Hello: func() live.Hello { return live.Hello{Provider: "p", Model: "m", Mode: "ask", Cwd: "/there"} },
		Log: func(ctx context.Context, after int64, each func(int64, session.Entry) error) error {
			return e.h.Log(ctx, "x", after, each)
		},
		Position: func() int64 {
			e.h.mu.Lock()
			defer e.h.mu.Unlock()
			return int64(len(e.h.logs["x"]))
		},
		Act: func(_ live.Peer, raw []byte) error { e.acts <- string(raw); return nil },
		Record: func(p live.Peer, act string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.from = append(e.from, p.As+": "+act)
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close("") })
}

func (e *elsewhere) says(id string, role session.Role, text string) {
	m := session.Message{ID: id, Role: role, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}
	e.h.store("x", session.MessageEntry, m)
	e.Observe(session.MessageDone{Message: m})
}

// asks puts a question of the gate.
func (e *elsewhere) asks(t *testing.T) <-chan permission.Answer {
	t.Helper()
	got := make(chan permission.Answer, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		a, err := e.Ask(ctx, permission.Ask{Question: tool.Question{Call: "c", Tool: tool.Definition{Name: "bash"}, Needs: []tool.Need{{Permission: tool.Execute, Target: "make"}}},
			Offers: []permission.Offer{{Rule: "execute(make)"}}})
		if err == nil {
			got <- a
		}
	}()
	return got
}

func (e *elsewhere) recorded() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.from)
}

func htmlOf(n told) string {
	html := n.HTML + n.Change.HTML
	for _, p := range n.Pieces {
		html += p.HTML
	}
	return html
}

// untilHTML reads to a piece that has a text.
func untilHTML(next func() told, text string) string {
	return htmlOf(until(next, func(n told) bool { return strings.Contains(htmlOf(n), text) }))
}

func questionIn(html string) string {
	_, rest, _ := strings.Cut(html, `data-question="`)
	question, _, _ := strings.Cut(rest, `"`)
	return question
}

// TestASessionOfAnotherProcess is followed, answered, prompted and stopped over its socket, and is
// read from its log when the process has ended.
func TestASessionOfAnotherProcess(t *testing.T) {
	e := beside(t)
	e.says("m1", session.User, "build it")
	e.h.store("x", session.FragmentEntry, session.Fragment{Message: "m2", Kind: session.TextPart, Text: "It "})
	e.Observe(session.TextDelta{Message: "m2", Delta: "It "})
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	until(s.watcher("session="), func(n told) bool { return n.T == "list" && strings.Contains(n.HTML, `class="group working"`) })
	next := s.watcher("session=x")
	until(next, func(n told) bool {
		return n.T == "bar" && n.Bar.State == "running" && n.Bar.Model == "p/m" && n.Bar.Mode == "ask"
	})
	e.Observe(session.TextDelta{Message: "m2", Delta: "is built."})
	if html := untilHTML(next, "is built."); strings.Count(html, "It ") != 1 {
		t.Errorf("a piece that the log has, too: %s", html)
	}
	e.says("m2", session.Assistant, "It is built.")

	for what, want := range map[string]int{"menu": http.StatusOK, "files": http.StatusConflict} {
		if code, text := s.get("GET", "/api/page/x/"+what, ""); code != want {
			t.Errorf("%s: %d %s", what, code, text)
		}
	}
	got := e.asks(t)
	question := questionIn(untilHTML(next, "data-question"))
	until(next, func(n told) bool { return n.T == "bar" && n.Bar.State == "waiting" })
	for body, want := range map[string]int{
		`{"question":"QUESTION","choice":"edits"}`:             http.StatusBadRequest,
		`{"question":"QUESTION","choice":"yes"}`:               http.StatusBadRequest,
		`{"question":"QUESTION","choice":"session","offer":1}`: http.StatusConflict,
		`{"question":"q1","choice":"once"}`:                    http.StatusConflict,
	} {
		if code, text := s.get("POST", "/api/page/x/answer", strings.ReplaceAll(body, "QUESTION", question)); code != want {
			t.Errorf("%s: %d %s, not %d", body, code, text, want)
		}
	}
	s.act("x", "answer", map[string]any{"question": question, "choice": "session", "offer": 0})
	if a := <-got; a.Choice != permission.ForSession || a.Offer != 0 {
		t.Errorf("the gate got %+v", a)
	}
	untilHTML(next, "Answered by page")
	if code, _ := s.get("POST", "/api/page/x/answer", `{"question":"`+question+`","choice":"deny"}`); code != http.StatusConflict {
		t.Errorf("a late answer: %d", code)
	}
	s.act("x", "say", map[string]any{"text": "and test it"})
	s.act("x", "say", map[string]any{"text": "then rest", "queue": true})
	s.act("x", "stop", map[string]any{})
	for _, want := range []string{`{"type":"steer","text":"and test it"}`, `{"type":"prompt","text":"then rest"}`, `{"type":"abort"}`} {
		if act := <-e.acts; act != want {
			t.Errorf("the owner got %s, not %s", act, want)
		}
	}
	e.h.store("x", session.EndEntry, done())
	e.Observe(session.TurnEnd{Result: done()})
	until(next, func(n told) bool { return n.T == "bar" && n.Bar.State == "idle" })

	e.h.mu.Lock()
	e.h.holder = ""
	e.h.mu.Unlock()
	e.Close("")
	until(next, func(n told) bool { return n.T == "whole" })
	if opened, _ := e.h.counts(); opened != 0 {
		t.Error("it was opened here")
	}
	e.listens(t) // another process
	_ = e.asks(t)
	again := questionIn(untilHTML(next, "data-question"))
	if code, text := s.get("POST", "/api/page/x/answer", `{"question":"`+question+`","choice":"once"}`); code != http.StatusConflict || again == question {
		t.Errorf("an answer to the question of the process before: %d %s", code, text)
	}
}

// TestADeviceSteersAnotherProcessWithinItsScopes: it answers once, and its name is recorded.
func TestADeviceSteersAnotherProcessWithinItsScopes(t *testing.T) {
	e := beside(t)
	got := e.asks(t)
	b := listenFar(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	question := questionIn(untilHTML(b.watcher("session=x"), "data-question"))
	token, d := b.device(pairing.Look, pairing.Answer)
	post := func(act, body string) int {
		code, _ := b.sends("POST", "/api/page/x/"+act, token, strings.ReplaceAll(body, "QUESTION", question))
		return code
	}
	for act, body := range map[string]string{"say": `{"text":"go"}`, "set": `{"name":"mode","value":"yolo"}`, "answer": `{"question":"QUESTION","choice":"session","offer":0}`} {
		if code := post(act, body); code != http.StatusForbidden {
			t.Errorf("%s: %d", act, code)
		}
	}
	if code := post("answer", `{"question":"QUESTION","choice":"once"}`); code != http.StatusOK {
		t.Errorf("once: %d", code)
	}
	if a := <-got; a.Choice != permission.Once {
		t.Errorf("the gate got %+v", a)
	}
	if code := post("stop", `{}`); code != http.StatusOK || <-e.acts != `{"type":"abort"}` {
		t.Errorf("stop: %d", code)
	}
	if from := e.recorded(); len(from) != 2 || !strings.HasPrefix(from[0], "page on device "+d.ID) || len(e.acts) > 0 {
		t.Errorf("recorded are %q", from)
	}
}
