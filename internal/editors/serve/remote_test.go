package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/editors/serve"
	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// elsewhere is a session x in a backend that another process has: its owner is a real one.
type elsewhere struct {
	*live.Owner
	h      *backend
	folder string
	acts   chan string
	host   *control.Host // if nil, the process does nothing of the kind

	mu    sync.Mutex
	from  []string // who did what, as it is recorded
	works live.Works
}

func beside(t *testing.T, host ...*control.Host) *elsewhere {
	t.Helper()
	dir, err := os.MkdirTemp("", "adze") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	e := &elsewhere{h: &backend{heads: []session.Head{{ID: "x", Name: "Beside"}}, holder: "adze, pid 7", locks: dir}, folder: filepath.Join(dir, "s"), acts: make(chan string, 10)}
	if len(host) > 0 {
		e.host = host[0]
	}
	e.listens(t)
	return e
}

// listens has a process take the session.
func (e *elsewhere) listens(t *testing.T) {
	t.Helper()
	var err error
	c := live.Config{Folder: e.folder, ID: "x", ParentCall: func(int) string { return "" },
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
			e.from = append(e.from, p.Kind+": "+act)
		},
		Works: func() live.Works {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.works
		}}
	if e.host != nil {
		c.Control = func(ctx context.Context, _ live.Peer, r control.Request) (any, error) { return e.host.Do(ctx, r) }
	}
	if e.Owner, err = live.Listen(c); err != nil {
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
func (e *elsewhere) asks(t *testing.T) <-chan ask.Answer {
	t.Helper()
	got := make(chan ask.Answer, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		a, err := e.Ask(ctx, ask.Permission{Question: tool.Question{Call: "c", Tool: tool.Definition{Name: "bash"}, Needs: []tool.Need{{Permission: tool.Execute, Target: "make"}}},
			Offers: []ask.Offer{{Rule: "execute(make)"}}})
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

// untilFound reads until the page knows of the process that has the session.
func untilFound(next func() told) {
	until(next, func(n told) bool { return n.T == "bar" && n.Bar.Model == "p/m" })
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

	for what, want := range map[string]int{"menu": http.StatusConflict, "changes": http.StatusConflict, "files": http.StatusOK} {
		if code, text := s.get("GET", "/api/page/x/"+what, ""); code != want {
			t.Errorf("%s: %d %s", what, code, text)
		}
	}
	got := e.asks(t)
	question, waits := "", false
	until(next, func(n told) bool { // in either order
		if strings.Contains(htmlOf(n), "data-question") {
			question = questionIn(htmlOf(n))
		}
		waits = waits || n.T == "bar" && n.Bar.State == "waiting"
		return question != "" && waits
	})
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
	if a := <-got; a.Choice != ask.ForSession || a.Offer != 0 {
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

	e.h.letGo()
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

// TestTheUIStreamLeavesSessionsOfOthersAlone: it lists them and has their messages, and neither
// follows a turn there, nor prompts or stops it.
func TestTheUIStreamLeavesSessionsOfOthersAlone(t *testing.T) {
	e := beside(t)
	e.says("m1", session.User, "before")
	e.says("m2", session.Assistant, "old")
	e.h.store("x", session.EndEntry, done())
	e.says("m3", session.User, "now")
	e.says("m4", session.Assistant, "zero ")
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	until(s.watcher("session="), func(n told) bool { return n.T == "list" && strings.Contains(n.HTML, `class="group working"`) })
	if _, list := s.get("GET", "/api/session", ""); !strings.Contains(list, `"state":"elsewhere","who":"adze, pid 7"`) {
		t.Errorf("list: %s", list)
	}
	if _, told := s.get("GET", "/api/chat/x", ""); strings.Contains(told, `"zero `) || !strings.Contains(told, "old") || !strings.Contains(told, "now") {
		t.Errorf("the conversation: %s", told)
	}
	if code, text := s.get("GET", "/api/chat/x/stream", ""); code != http.StatusNoContent {
		t.Errorf("a turn of another process: %d %s", code, text)
	}
	if code, text := s.get("POST", "/api/chat", prompt("x", "hello")); code != http.StatusConflict || !strings.Contains(text, "another process") {
		t.Errorf("a prompt: %d %s", code, text)
	}
	if code, text := s.get("DELETE", "/api/chat/x/stream", ""); code != http.StatusConflict || len(e.acts) > 0 {
		t.Errorf("stop: %d %s", code, text)
	}
	if opened, _ := e.h.counts(); opened != 0 {
		t.Error("a session of another process was opened")
	}
}

// window is the place of another process where a session is open. It writes down what is done.
type window struct {
	mu   sync.Mutex
	did  []string
	busy bool
}

func (w *window) does(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did = append(w.did, what)
}

func (w *window) took() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := strings.Join(w.did, ", ")
	w.did = nil
	return all
}

func (w *window) result(what string) session.Result { w.does(what); return done() }

// host does what sceneBackend offers, and more.
func (w *window) host(e func() *elsewhere) *control.Host {
	p := sceneBackend().ports
	p.SetMode = func(name string) error {
		if name == "yolo" {
			return errors.New("the mode yolo may not be chosen here")
		}
		w.does("mode " + name)
		return nil
	}
	p.SetEffort = func(name string) string { w.does("effort " + name); return name }
	p.CheckModel = func(name string) error {
		if name != "p/other" {
			return errors.New("no such model: " + name)
		}
		return nil
	}
	undo := p.Undo
	p.Undo = func(ctx context.Context, u api.Undo) (api.UndoResult, error) {
		w.does(fmt.Sprintf("undo dry=%v redo=%v", u.Dry, u.Redo))
		return undo(ctx, u)
	}
	p.Rewind = func(context.Context) (string, error) { w.does("rewind"); return "the last prompt", nil }
	p.Compact = func(_ context.Context, wish string) session.Result { return w.result("compact " + wish) }
	p.Run = func(_ context.Context, command string) session.Result { return w.result("run " + command) }
	p.Revert = func(_ context.Context, h api.NetHunk) session.Result {
		return w.result(fmt.Sprint("revert ", h.File.Path, h.Number, h.File.Diff == sceneDiff))
	}
	p.Stage = func(_ context.Context, h api.NetHunk) session.Result { return w.result("stage " + h.File.Path) }
	return &control.Host{Ports: &p, Commands: func() []api.Named { return []api.Named{{Name: "project:fix"}} },
		Begin: func(do func(context.Context) session.Result) error {
			if w.busy {
				return control.ErrBusy
			}
			do(context.Background())
			return nil
		},
		RunExclusive: func(ctx context.Context, do func(context.Context)) error { do(ctx); return nil },
		Model:        func(name string) error { w.does("model " + name); return nil },
		Unqueue:      func(text string) bool { w.does("unqueue " + text); return text == "waits" },
		Rewound:      func(bool) { e().ResetClients() },
	}
}

// TestEveryActionOnASessionOfAnotherProcess is done there, by its owner, as in a session of the
// server's own. What the log or the folder has is done here.
func TestEveryActionOnASessionOfAnotherProcess(t *testing.T) {
	w := &window{}
	var e *elsewhere
	e = beside(t, w.host(func() *elsewhere { return e }))
	e.says("m1", session.User, "build it")
	e.says("m2", session.Assistant, "It is built.")
	e.h.store("x", session.EndEntry, done())
	e.Observe(session.TurnEnd{Result: done()})
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	next := s.watcher("session=x")
	untilFound(next)
	get := func(what string, want ...string) string {
		t.Helper()
		code, text := s.get("GET", "/api/page/x/"+what, "")
		for _, w := range want {
			if code != http.StatusOK || !strings.Contains(text, w) {
				t.Errorf("%s: %d %s, without %s", what, code, text, w)
			}
		}
		return text
	}
	get("menu", `"Name":"project:fix"`, `"Name":"plan"`, `"Name":"high"`, `"an older prompt"`, `"undo":true`, `"compact":true`, `"run":true`)
	get("models", "ollama does not run")
	get("files?q=pool", `["pool/pool.go"`)
	get("export?form=md", "md of x")
	changes := get("changes?since=turn", `pool/pool.go`, `data-act=\"revert\"`, `data-act=\"stage\"`)
	_, rest, _ := strings.Cut(changes, `data-hash=\"`)
	hash, _, _ := strings.Cut(rest, `\"`)
	for _, c := range []struct{ act, body, did, want string }{
		{"set", `{"name":"mode","value":"edits"}`, "mode edits", ""},
		{"set", `{"name":"effort","value":"high"}`, "effort high", ""},
		{"set", `{"name":"model","value":"p/other"}`, "model p/other", `"id":"x"`},
		{"undo", `{"dry":true}`, "undo dry=true redo=false", "change  pool/pool.go"},
		{"undo", `{"redo":true}`, "undo dry=false redo=true", "change  pool/pool.go"},
		{"rewind", `{}`, "rewind", "the last prompt"},
		{"compact", `{"text":"the names"}`, "compact the names", ""},
		{"run", `{"text":"make"}`, "run make", ""},
		{"revert", `{"file":"pool/pool.go","hunk":0,"hash":"` + hash + `"}`, "revert pool/pool.go0 true", ""},
		{"stage", `{"file":"pool/pool.go","hunk":0,"hash":"` + hash + `"}`, "stage pool/pool.go", ""},
		{"unqueue", `{"text":"waits"}`, "unqueue waits", ""},
		{"reviewed", `{}`, "", ""},
		{"rename", `{"name":"Renamed"}`, "", ""},
		{"fork", `{}`, "", "x-fork"},
	} {
		code, text := s.get("POST", "/api/page/x/"+c.act, c.body)
		if did := w.took(); code != http.StatusOK || did != c.did || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %s, and the owner did %q", c.act, c.body, code, text, did)
		}
	}
	for _, c := range []struct{ act, body, why string }{
		{"set", `{"name":"mode","value":"yolo"}`, "may not be chosen here"},
		{"set", `{"name":"effort","value":"huge"}`, "no effort"},
		{"set", `{"name":"model","value":"p/none"}`, "no such model"},
		{"set", `{"name":"colour","value":"red"}`, "cannot be done"},
		{"revert", `{"file":"pool/pool.go","hunk":0,"hash":"0"}`, "changed meanwhile"},
		{"unqueue", `{"text":"gone"}`, "sent already"},
		{"rule", `{}`, "no such action"},
	} {
		if code, text := s.get("POST", "/api/page/x/"+c.act, c.body); code < 400 || !strings.Contains(text, c.why) {
			t.Errorf("%s %s: %d %s", c.act, c.body, code, text)
		}
	}
	w.busy = true
	if code, text := s.get("POST", "/api/page/x/run", `{"text":"make"}`); code != http.StatusConflict || !strings.Contains(text, "a turn runs") {
		t.Errorf("while a turn runs: %d %s", code, text)
	}
	if opened, _ := e.h.counts(); opened != 0 {
		t.Error("it was opened here")
	}
	want := []string{"set mode edits", "set effort high", "set model p/other", "redo", "rewind", "compact", "run make", "revert pool/pool.go", "stage pool/pool.go", "unqueue"}
	for i := range want {
		want[i] = "page: " + want[i]
	}
	if got := e.recorded(); !slices.Equal(got, want) {
		t.Errorf("recorded are %q, not %q", got, want)
	}
}

// TestWhatWaitsInAnotherProcess is shown in the bar, with the mode and the effort in force. A page
// reads the log anew when a prompt was taken back.
func TestWhatWaitsInAnotherProcess(t *testing.T) {
	w := &window{}
	var e *elsewhere
	e = beside(t, w.host(func() *elsewhere { return e }))
	e.says("m1", session.User, "first")
	e.h.store("x", session.EndEntry, done())
	e.says("m2", session.User, "second")
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	next := s.watcher("session=x")
	untilFound(next)
	e.mu.Lock()
	e.works = live.Works{Mode: "edits", Effort: "high", Queued: []string{"third"}, Steered: []string{"mind it"}}
	e.mu.Unlock()
	e.Refresh()
	until(next, func(n told) bool {
		return n.T == "bar" && n.Bar.Mode == "edits" && n.Bar.Effort == "high" && slices.Equal(n.Bar.Queue, []string{"third"}) && slices.Equal(n.Bar.Steered, []string{"mind it"})
	})
	e.h.store("x", session.RewindEntry, session.Rewound{MessageID: "m2"})
	s.act("x", "rewind", map[string]any{})
	until(next, func(n told) bool { return n.T == "turns" && len(n.Turns) == 1 })
}

// TestFilesGoToAnotherProcess with the prompt: pictures, documents and texts.
func TestFilesGoToAnotherProcess(t *testing.T) {
	e := beside(t)
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	untilFound(s.watcher("session=x"))
	s.act("x", "say", map[string]any{"text": "look", "files": []map[string]string{
		{"type": "file", "filename": "a.png", "url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="}, {"type": "file", "filename": "b.txt", "url": "data:text/plain,words"}}})
	var line live.Input
	if err := json.Unmarshal([]byte(<-e.acts), &line); err != nil || line.Type != "prompt" || line.Text != "look" || len(line.Files) != 2 || line.Files[0].Name != "a.png" || string(line.Files[1].Data) != "words" {
		t.Errorf("the owner got %+v, %v", line, err)
	}
	for body, want := range map[string]int{
		`{"text":"look","files":[{"filename":"a.zip","url":"data:,%50%4B%03%04%00"}]}`: http.StatusUnsupportedMediaType,
		`{"text":"look","files":[{"filename":"a","url":"https://example.com/a.png"}]}`: http.StatusUnsupportedMediaType,
		`{"text":" "}`: http.StatusBadRequest,
		`{"text":"look","files":[{"filename":"a.txt","url":"data:,` + strings.Repeat("a", 13<<20) + `"}]}`: http.StatusRequestEntityTooLarge,
	} {
		if code, text := s.get("POST", "/api/page/x/say", body); code != want {
			t.Errorf("%.80s: %d %s, not %d", body, code, text, want)
		}
	}
	if len(e.acts) > 0 {
		t.Errorf("the owner got %s", <-e.acts)
	}
}
