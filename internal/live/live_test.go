//go:build linux || darwin

package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/live"
	"adze/session"
	"adze/tool"
	"adze/tui/permission"
)

// log is one in memory.
type log struct {
	mu      sync.Mutex
	entries []session.Entry
}

func (l *log) append(e session.EntryType, data any) {
	raw, _ := json.Marshal(data)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, session.Entry{Type: e, Data: raw})
}

func (l *log) position() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.entries))
}

func (l *log) each(_ context.Context, after int64, each func(int64, session.Entry) error) error {
	for at := after; at < l.position(); at++ {
		l.mu.Lock()
		e := l.entries[at]
		l.mu.Unlock()
		if err := each(at+1, e); err != nil {
			return err
		}
	}
	return nil
}

// owned is a session that is watched.
type owned struct {
	*live.Owner
	*log
	folder string
	acts   chan string
}

func own(t *testing.T, change func(*live.Config)) *owned {
	t.Helper()
	dir, err := os.MkdirTemp("", "live") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o := &owned{log: &log{}, folder: filepath.Join(dir, "s"), acts: make(chan string, 100)}
	c := live.Config{Folder: o.folder, ID: "one", Hello: func() live.Hello { return live.Hello{Title: "a title"} },
		Log: o.each, Position: o.position, Below: func(int) string { return "" },
		Act: func(p live.Peer, raw []byte) error {
			if p.PID != os.Getpid() {
				t.Errorf("it came from %v", p)
			}
			o.acts <- string(raw)
			return nil
		}}
	if change != nil {
		change(&c)
	}
	if o.Owner, err = live.Listen(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close("the test ends") })
	return o
}

// says stores a message of the user and shows it.
func (o *owned) says(id string) {
	m := session.Message{ID: id, Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: id}}}
	o.append(session.MessageEntry, m)
	o.Observe(session.MessageDone{Message: m})
}

func (o *owned) dial(t *testing.T, w live.Wish) *live.Client {
	t.Helper()
	c, err := live.Dial(t.Context(), o.folder, "one", w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// until reads lines up to the first of a type, and returns what was told: messages by their names.
func until(t *testing.T, c *live.Client, kind string) (seen []string, last live.Line) {
	t.Helper()
	for {
		l, err := c.Next()
		if err != nil {
			t.Fatalf("waiting for %s behind %v: %v", kind, seen, err)
		}
		var m struct {
			Message json.RawMessage
			Delta   string
			Call    string
		}
		_ = json.Unmarshal(l.Raw, &m)
		switch l.Type {
		case "message":
			var of session.Message
			_ = json.Unmarshal(m.Message, &of)
			seen = append(seen, of.ID)
		case "text":
			seen = append(seen, "+"+m.Delta)
		case "tool_start", "tool_end", "tool_update":
			seen = append(seen, l.Type+" "+m.Call)
		}
		if l.Type == kind {
			return seen, l
		}
	}
}

// TestAWatcherIsToldAllOnce: what the log has, what arrives and is in no log yet, and what comes.
func TestAWatcherIsToldAllOnce(t *testing.T) {
	o := own(t, nil)
	o.says("one")
	o.Observe(session.TextDelta{Message: "two", Delta: "half "})
	o.append(session.FragmentEntry, session.Fragment{Message: "two", Kind: session.TextPart, Text: "half "})
	c := o.dial(t, live.Wish{As: "terminal"})
	if c.Hello.Title != "a title" || c.Hello.State != live.Working || c.Hello.PID != os.Getpid() {
		t.Errorf("hello is %+v", c.Hello)
	}
	first, at := until(t, c, "live")
	if strings.Join(first, " ") != "one" || !strings.Contains(string(at.Raw), `"after":2`) {
		t.Errorf("the log told %v, then %s", first, at.Raw)
	}
	o.Observe(session.TextDelta{Message: "two", Delta: "whole"})
	m := session.Message{ID: "two", Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: "half whole"}}}
	o.append(session.MessageEntry, m)
	late := o.dial(t, live.Wish{}) // the log has the message, and it was not told yet
	before, _ := until(t, late, "live")
	o.Observe(session.MessageDone{Message: m})
	o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	if got, _ := until(t, c, "turn"); strings.ReplaceAll(strings.Join(got, ""), "+", "") != "half wholetwo" {
		t.Errorf("live came %q", got)
	}
	got, _ := until(t, late, "turn")
	if all := strings.Join(append(before, got...), " "); all != "one two" {
		t.Errorf("the late one was told %q", all)
	}
}

// TestTheFirstAnswerWins, and all are told; it is recorded who gave it.
func TestTheFirstAnswerWins(t *testing.T) {
	recorded := make(chan string, 10)
	o := own(t, func(c *live.Config) { c.Record = func(p live.Peer, act string) { recorded <- fmt.Sprint(p, " ", act) } })
	one, two := o.dial(t, live.Wish{As: "terminal"}), o.dial(t, live.Wish{As: "page"})
	until(t, one, "live")
	got := make(chan permission.Answer, 1)
	go func() {
		a, err := o.Ask(t.Context(), permission.Ask{Question: tool.Question{Call: "c1", Tool: tool.Definition{Name: "bash"}}})
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	_, q := until(t, one, "question")
	until(t, two, "question")
	late := o.dial(t, live.Wish{})
	until(t, late, "question")
	var asked live.Question
	if err := json.Unmarshal(q.Raw, &asked); err != nil {
		t.Fatal(err)
	}
	if err := two.Send(live.Answer{Type: "answer", Question: asked.Question, Choice: "always"}); err != nil {
		t.Fatal(err)
	}
	if _, l := until(t, two, "unread"); !strings.Contains(string(l.Raw), "no choice") {
		t.Errorf("a wrong answer: %s", l.Raw)
	}
	if err := two.Send(live.Answer{Type: "answer", Question: asked.Question, Choice: "once"}); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.Choice != permission.Once {
		t.Errorf("the answer is %+v", a)
	}
	if _, l := until(t, one, "answered"); !strings.Contains(string(l.Raw), "page (process ") {
		t.Errorf("told was %s", l.Raw)
	}
	if err := one.Send(live.Answer{Type: "answer", Question: asked.Question, Choice: "no"}); err != nil {
		t.Fatal(err)
	}
	until(t, one, "unread")
	if r := <-recorded; !strings.HasPrefix(r, "page (process ") || !strings.HasSuffix(r, "answer q1 once") {
		t.Errorf("recorded is %q", r)
	}
	if len(recorded) > 0 {
		t.Errorf("recorded is %q, too", <-recorded)
	}
}

// TestAWatcherThatDoesNotReadMissesEvents: it never holds the session, is told how many it missed,
// and goes on from the log without a gap and without anything twice.
func TestAWatcherThatDoesNotReadMissesEvents(t *testing.T) {
	o := own(t, nil)
	c := o.dial(t, live.Wish{})
	until(t, c, "live")
	const n = 30000
	want := map[string]int{}
	for i := range n {
		id := fmt.Sprintf("m%d-%s", i, strings.Repeat("x", 200))
		want[id] = 0
		o.says(id)
	}
	o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	missed := false
	for got := 0; got < n; {
		l, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		missed = missed || l.Type == "missed"
		if l.Type == "message" {
			var m struct{ Message session.Message }
			_ = json.Unmarshal(l.Raw, &m)
			if want[m.Message.ID]++; want[m.Message.ID] > 1 {
				t.Fatalf("%s came twice", m.Message.ID)
			}
			got++
		}
	}
	if !missed {
		t.Error("it was not told that it missed events")
	}
}

// TestWhoIsBelowACallIsRefused before anything is told.
func TestWhoIsBelowACallIsRefused(t *testing.T) {
	o := own(t, func(c *live.Config) { c.Below = func(int) string { return "the call x" } })
	_, err := live.Dial(t.Context(), o.folder, "one", live.Wish{})
	if !errors.Is(err, live.ErrRefused) || !strings.Contains(err.Error(), "the call x") {
		t.Errorf("err = %v", err)
	}
	all, err := live.List(t.Context(), o.folder)
	if err != nil || len(all) > 0 {
		t.Errorf("listed are %v, %v", all, err)
	}
}

func TestOnlyTheUserReachesASocket(t *testing.T) {
	o := own(t, nil)
	for _, at := range []string{o.folder, filepath.Join(o.folder, "one.sock")} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", at, info.Mode(), err)
		}
	}
	if err := os.Chmod(o.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Listen(live.Config{Folder: o.folder, ID: "two"}); err == nil {
		t.Error("it listens where others look")
	}
}

func TestAnEndIsToldAndAKillIsSeen(t *testing.T) {
	o := own(t, nil)
	c := o.dial(t, live.Wish{})
	until(t, c, "live")
	o.Close("taken over")
	if _, l := until(t, c, "closing"); !strings.Contains(string(l.Raw), "taken over") {
		t.Errorf("told was %s", l.Raw)
	}
	if _, err := c.Next(); err != io.EOF {
		t.Errorf("err = %v", err)
	}
	if _, err := live.Dial(t.Context(), o.folder, "one", live.Wish{}); !errors.Is(err, live.ErrNobody) {
		t.Errorf("nobody: %v", err)
	}

	killed := filepath.Join(o.folder, "dead.sock") // as the kernel leaves one behind
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: killed, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := live.Dial(t.Context(), o.folder, "dead", live.Wish{}); !errors.Is(err, live.ErrNobody) {
		t.Errorf("a socket of the dead: %v", err)
	}
	again, err := live.Listen(live.Config{Folder: o.folder, ID: "dead", Hello: func() live.Hello { return live.Hello{} }, Below: func(int) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close("")
	if all, err := live.List(t.Context(), o.folder); err != nil || len(all) != 1 || all[0].Session != "dead" {
		t.Errorf("listed are %v, %v", all, err)
	}
}

// TestFiftyWatchersOfATurn see every event of it, in order.
func TestFiftyWatchersOfATurn(t *testing.T) {
	o := own(t, nil)
	var clients []*live.Client
	for range 50 {
		c := o.dial(t, live.Wish{})
		until(t, c, "live")
		clients = append(clients, c)
	}
	const n = 10000
	go func() {
		for i := range n {
			o.Observe(session.TextDelta{Message: "m", Delta: fmt.Sprintln(i)})
		}
		o.Observe(session.MessageDone{Message: session.Message{ID: "m", Role: session.Assistant}})
		o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	}()
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			text, missed := strings.Builder{}, false
			for {
				l, err := c.Next()
				if err != nil {
					t.Error(err)
					return
				}
				var d struct{ Delta string }
				switch l.Type {
				case "missed":
					missed = true
				case "text":
					_ = json.Unmarshal(l.Raw, &d)
					text.WriteString(d.Delta)
				case "turn":
					if lines := strings.Count(text.String(), "\n"); !missed && lines != n {
						t.Errorf("%d lines", lines)
					}
					return
				}
			}
		})
	}
	all.Wait()
}

// TestStateOnly is what a list of sessions needs.
func TestStateOnly(t *testing.T) {
	o := own(t, nil)
	c := o.dial(t, live.Wish{StateOnly: true})
	until(t, c, "state")
	o.says("one")
	o.Observe(session.ToolStart{Event: tool.Event{Call: "c", Tool: "bash", Title: "go test"}})
	for {
		l, err := c.Next()
		if err != nil || l.Type != "state" {
			t.Fatalf("%s %v", l.Raw, err)
		}
		if strings.Contains(string(l.Raw), `"state":"working","doing":"go test"`) {
			break
		}
	}
}

// TestLinesReachTheSession and are numbered.
func TestLinesReachTheSession(t *testing.T) {
	o := own(t, nil)
	c := o.dial(t, live.Wish{})
	n, err := c.Number(live.Prompt{Type: "prompt", Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if _, l := until(t, c, "accepted"); string(l.Raw) != fmt.Sprintf(`{"type":"accepted","line":%d}`, n) {
		t.Errorf("accepted is %s", l.Raw)
	}
	if got := <-o.acts; !strings.Contains(got, `"hello"`) {
		t.Errorf("said was %s", got)
	}
	if err := c.Take(); err != nil {
		t.Fatal(err)
	}
	until(t, c, "unread")
}
