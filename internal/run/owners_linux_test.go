package run_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"adze/internal/live"
	"adze/session"
)

// reach attaches to a session whose process starts now.
func (u *user) reach(id string) *watching {
	u.t.Helper()
	next, stop, err := live.Await(u.sockets())
	if err != nil {
		u.t.Fatal(err)
	}
	defer stop()
	for {
		c, err := live.Dial(u.t.Context(), u.sockets(), session.ID(id), live.Subscription{Kind: "test"})
		if err == nil {
			u.t.Cleanup(func() { c.Close() })
			return &watching{c, u.t}
		}
		if !errors.Is(err, live.ErrNobody) || next(u.t.Context()) != nil {
			u.t.Fatal(err)
		}
	}
}

// open is a stdin that stays open and says nothing.
func open(t *testing.T) io.Reader {
	t.Helper()
	in, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); other.Close() })
	return in
}

// takes takes a session over, and reads to its owner's last word.
func (w *watching) takes() {
	w.t.Helper()
	if err := w.Take(); err != nil {
		w.t.Fatal(err)
	}
	w.until(`"type":"closing","why":"it goes on in test (process`)
	if l, err := w.Next(); err != io.EOF {
		w.t.Fatalf("behind its end: %s, %v", l.Raw, err)
	}
}

// TestARunWithoutATerminalIsSteered: a remark reaches the model, a call of it is stopped, and a
// further prompt is refused, since the run ends with its answer.
func TestARunWithoutATerminalIsSteered(t *testing.T) {
	u := newUser(t)
	s := u.start("-p", "--session-id=steered", "--permission-mode=yolo", "--sandbox=off",
		u.script("-- 1 --\n"+bash("sleep 600")+"-- 2 --\ntext: first answer\n"), "go")
	w := u.reach("steered")
	if w.Hello.Window {
		t.Errorf("hello is %+v", w.Hello)
	}
	_, call, _ := strings.Cut(w.until(`"type":"tool_start"`), `"type":"tool_start","call":"`)
	call, _, _ = strings.Cut(call, `"`)
	w.says(live.Input{Type: "steer", Text: "no more sleep"})
	w.says(live.Input{Type: "prompt", Text: "and this"})
	w.until("this run answers one prompt, and ends")
	w.says(live.Input{Type: "abort", Call: call})
	w.until("no more sleep")
	w.until("first answer")
	if r := s.ends(); r.code != 0 || strings.TrimSpace(r.out) != "first answer" {
		t.Errorf("it ended with %d: %s%s", r.code, r.out, r.err)
	}
}

// TestARunIsTakenOver without a terminal, and led by lines: it ends with a code and a word of its
// own, and its session goes on elsewhere.
func TestARunIsTakenOver(t *testing.T) {
	sleeps := "-- 1 --\n" + bash("sleep 600")
	for name, args := range map[string][]string{
		"alone":         {},
		"lines":         {"--output-format=stream-json"},
		"led by lines":  {"--input-format=stream-json", "--output-format=stream-json"},
		"waits for one": {"--input-format=stream-json", "--output-format=stream-json"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			args = append(args, "-p", "--session-id=taken", "--permission-mode=yolo", "--sandbox=off", u.script(sleeps))
			if name == "waits for one" {
				u.script("-- 1 --\ntext: at rest\n")
			}
			var in io.Reader
			if name == "waits for one" {
				in = open(t)
			}
			s := u.startWith(in, append(args, "go")...)
			w := u.reach("taken")
			if name == "waits for one" {
				w.until("at rest")
				waitFor(t, "the end of the turn", func() bool {
					c, err := live.Dial(t.Context(), u.sockets(), "taken", live.Subscription{StateOnly: true})
					if err != nil {
						return false
					}
					defer c.Close()
					return c.Hello.State == live.Idle
				})
			} else {
				w.until(`"type":"tool_start"`)
			}
			w.takes()
			r := s.ends()
			said := r.out + r.err
			if r.code != 15 || !strings.Contains(said, "the session was taken over: it goes on in test (process") {
				t.Errorf("it ended with %d: %s", r.code, said)
			}
			if strings.HasPrefix(args[0], "-p") == strings.Contains(said, `"cause":"taken_over","exit_code":15`) {
				t.Errorf("its last line: %s", said)
			}
			u.run("-p", "--resume", "taken", u.script("-- 1 --\ntext: gone on\n"), "go on").wants(0, "gone on")
		})
	}
}

// TestASessionIsFollowed as lines and as text, until its process lets go of it or is killed.
func TestASessionIsFollowed(t *testing.T) {
	u := newUser(t)
	id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n-- 2 --\ntext: All is done.\n-- 3 --\ncall write: {\"path\":\"more.txt\",\"content\":\"x\"}\n"), "make it")
	w.until("make it")
	text, lines := u.start("session", "follow", id), u.start("logs", id, "--follow", "--json")
	text.until("> make it")
	lines.until("make it")
	w.answers("once")
	text.until("All is done.")
	lines.until("All is done.")
	w.says(live.Input{Type: "prompt", Text: "and more"})
	text.until("> and more")
	w.until(`{"type":"question"`)
	if err := syscall.Kill(w.Hello.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	text.ends().wants(0, "was killed")
	r := lines.ends().wants(0, "was killed")
	seen := map[string]bool{}
	for l := range strings.Lines(r.out) {
		if !json.Valid([]byte(l)) || seen[l] {
			t.Errorf("no JSON, or twice: %s", l)
		}
		seen[l] = true
	}
	var now ran
	waitFor(t, "the end of the process that had it", func() bool { now = u.run("session", "follow", id); return now.code == 0 })
	now.wants(0, "> make it", "> and more")
}

// TestASessionOfAnEditorIsSharedAndTakenOver: another process prompts and stops it, which the
// editor is told; it takes it over, and the editor's next prompt takes it back, unless it works
// there.
func TestASessionOfAnEditorIsSharedAndTakenOver(t *testing.T) {
	u := newUser(t)
	e := u.wire("--permission-mode=yolo", "--sandbox=off", u.script("-- 1 --\ntext: answer one\n-- 2 --\ntext: answer two\n-- 3 --\n"+bash("sleep 600")+
		"-- 4 --\ntext: never\n"))
	id := e.opens(1, u.dir)
	w := u.reach(id)
	w.until(`{"type":"live"`) // it has joined: what comes now it is told
	e.says(prompting(2, id, "one"))
	e.until(`"id":2,"result"`, "end_turn")
	w.until(`"type":"turn"`)
	w.says(live.Input{Type: "prompt", Text: "from elsewhere"})
	e.until("user_message_chunk", "from elsewhere")
	e.hears("answer two")
	w.until(`"type":"turn"`)
	w.says(live.Input{Type: "set", Mode: "edits"})
	e.until("current_mode_update", "edits")
	w.says(live.Input{Type: "set", Mode: "yolo"})
	e.until("current_mode_update", "yolo")
	e.says(prompting(3, id, "three"))
	w.until(`"type":"tool_start"`)
	w.takes()
	e.until(`"id":3,"result"`, "cancelled")
	e.until(`"notice":true`, "goes on in test (process", "your next prompt takes it back")
	e.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"session/set_mode","params":{"sessionId":%q,"modeId":"edits"}}`, id))
	e.until(`"id":4,"error"`, "goes on in test")

	s := u.startWith(open(t), "-p", "--input-format=stream-json", "--output-format=stream-json", "--resume", id, "--permission-mode=yolo", "--sandbox=off",
		u.script("-- 1 --\n"+bash("sleep 600")), "four")
	w = u.reach(id)
	w.until(`"type":"tool_start"`)
	w.until(`"type":"tool_start"`)
	e.says(prompting(5, id, "five"))
	e.until(`"id":5,"error"`, "works in this session")
	w.says(live.Input{Type: "abort"})
	w.until(`"type":"turn"`)
	u.script("-- 1 --\ntext: back again\n")
	e.says(prompting(6, id, "six"))
	e.until("user_message_chunk", "four")
	e.hears("back again")
	e.until(`"id":6,"result"`, "end_turn")
	s.ends().wants(15, "taken over: it goes on in editor (process")
	e.in.Close()
	if code := e.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
