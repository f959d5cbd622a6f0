package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"adze/internal/live"
	"adze/internal/stream/ask"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
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

func own(t testing.TB, change func(*live.Config)) *owned {
	t.Helper()
	dir, err := os.MkdirTemp("", "live") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o := &owned{log: &log{}, folder: filepath.Join(dir, "s"), acts: make(chan string, 100)}
	c := live.Config{Folder: o.folder, ID: "one", Hello: func() live.Hello { return live.Hello{Title: "a title"} },
		Log: o.each, Position: o.position, ParentCall: func(int) string { return "" },
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

func (o *owned) dial(t *testing.T, w live.Subscription) *live.Client {
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
	c := o.dial(t, live.Subscription{Kind: "terminal"})
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
	late := o.dial(t, live.Subscription{}) // the log has the message, and it was not told yet
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
	one, two := o.dial(t, live.Subscription{Kind: "terminal"}), o.dial(t, live.Subscription{Kind: "page"})
	until(t, one, "live")
	got := make(chan ask.Answer, 1)
	go func() {
		a, err := o.Ask(t.Context(), ask.Permission{Question: tool.Question{Call: "c1", Tool: tool.Definition{Name: "bash"}}})
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	_, q := until(t, one, "question")
	until(t, two, "question")
	late := o.dial(t, live.Subscription{})
	until(t, late, "question")
	var asked live.Question
	if err := json.Unmarshal(q.Raw, &asked); err != nil {
		t.Fatal(err)
	}
	if err := two.Send(live.Input{Type: "answer", Question: asked.Question, Choice: "always"}); err != nil {
		t.Fatal(err)
	}
	if _, l := until(t, two, "unread"); !strings.Contains(string(l.Raw), "no choice") {
		t.Errorf("a wrong answer: %s", l.Raw)
	}
	if err := two.Send(live.Input{Type: "answer", Question: asked.Question, Choice: "once"}); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.Choice != ask.Once || a.By != fmt.Sprintf("page (process %d)", os.Getpid()) {
		t.Errorf("the answer is %+v", a)
	}
	if _, l := until(t, one, "answered"); !strings.Contains(string(l.Raw), "page (process ") {
		t.Errorf("told was %s", l.Raw)
	}
	if err := one.Send(live.Input{Type: "answer", Question: asked.Question, Choice: "no"}); err != nil {
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
	c := o.dial(t, live.Subscription{})
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
	o := own(t, func(c *live.Config) { c.ParentCall = func(int) string { return "the call x" } })
	_, err := live.Dial(t.Context(), o.folder, "one", live.Subscription{})
	if !errors.Is(err, live.ErrRefused) || !strings.Contains(err.Error(), "the call x") {
		t.Errorf("err = %v", err)
	}
	all, err := live.List(t.Context(), o.folder)
	if err != nil || len(all) > 0 {
		t.Errorf("listed are %v, %v", all, err)
	}
}

func TestAnEndIsToldAndAKillIsSeen(t *testing.T) {
	o := own(t, nil)
	c := o.dial(t, live.Subscription{})
	until(t, c, "live")
	o.Close("taken over")
	if _, l := until(t, c, "closing"); !strings.Contains(string(l.Raw), "taken over") {
		t.Errorf("told was %s", l.Raw)
	}
	if _, err := c.Next(); err != io.EOF {
		t.Errorf("err = %v", err)
	}
	if _, err := live.Dial(t.Context(), o.folder, "one", live.Subscription{}); !errors.Is(err, live.ErrNobody) {
		t.Errorf("nobody: %v", err)
	}
}

// TestFiftyWatchersOfATurn see every event of it, in order. None misses one: what they were not sent
// yet of a message is joined.
func TestFiftyWatchersOfATurn(t *testing.T) {
	o := own(t, nil)
	var all sync.WaitGroup
	const n = 10000
	for range 50 {
		c := o.dial(t, live.Subscription{})
		until(t, c, "live")
		all.Go(func() {
			if lines := strings.Count(arrives(t, c), "\n"); lines != n {
				t.Errorf("%d lines", lines)
			}
		})
	}
	for i := range n {
		o.Observe(session.TextDelta{Message: "m", Delta: fmt.Sprintln(i)})
	}
	o.Observe(session.MessageDone{Message: session.Message{ID: "m", Role: session.Assistant}})
	o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	all.Wait()
}

// arrives is the text that a client is sent until the turn ends.
func arrives(t *testing.T, c *live.Client) string {
	var text strings.Builder
	for {
		l, err := c.Next()
		if err != nil {
			t.Error(err)
			return ""
		}
		var d struct{ Delta string }
		switch l.Type {
		case "missed":
			t.Errorf("%s", l.Raw)
		case "text":
			_ = json.Unmarshal(l.Raw, &d)
			text.WriteString(d.Delta)
		case "turn":
			return text.String()
		}
	}
}

// TestALongMessageOfManyPieces is told whole to a client that reads nothing before its end, and to
// one that comes in the middle, though it comes in more pieces than lines wait for a client.
func TestALongMessageOfManyPieces(t *testing.T) {
	o := own(t, nil)
	early := o.dial(t, live.Subscription{})
	until(t, early, "live")
	var want, reasoned strings.Builder
	tell := func(from, to int) {
		for i := from; i < to; i++ {
			piece := fmt.Sprintf("%d \"é\\\n\u0085", i)
			want.WriteString(piece)
			o.Observe(session.TextDelta{Message: "m", Delta: piece})
			if i%1000 == 0 {
				reasoned.WriteString(piece)
				o.Observe(session.ReasoningDelta{Message: "m", Delta: piece})
			}
		}
	}
	tell(0, 15000)
	late := o.dial(t, live.Subscription{})
	until(t, late, "live")
	tell(15000, 30000)
	o.Observe(session.MessageDone{Message: session.Message{ID: "m", Role: session.Assistant}})
	o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	for name, c := range map[string]*live.Client{"early": early, "late": late} {
		if got := arrives(t, c); got != want.String() {
			t.Errorf("%s got %d bytes of %d", name, len(got), want.Len())
		}
	}
}

// TestAnEventIsEncodedOnce, with the pieces behind it, and masked once, however many look. What a
// piece of a message costs does
// not grow with what came before it.
func TestAnEventIsEncodedOnce(t *testing.T) {
	const n = 20000
	work := func(watchers int) (masked, drawn int64, perEvent uint64) {
		var masks, draws atomic.Int64
		o := own(t, func(c *live.Config) {
			c.Mask = func() *redact.Masker { masks.Add(1); return &redact.Masker{} }
			c.Blocks = func(string, json.RawMessage) []tool.Block { draws.Add(1); return []tool.Block{{}} }
		})
		var clients []*live.Client
		for range watchers {
			c := o.dial(t, live.Subscription{})
			until(t, c, "live")
			clients = append(clients, c)
		}
		masks.Store(0) // what each needs of the log
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			o.Observe(session.TextDelta{Message: "m", Delta: fmt.Sprintln("a word or two of an answer", i)})
		}
		runtime.ReadMemStats(&after)
		o.Observe(session.ToolUpdate{Event: tool.Event{Call: "c", Metadata: json.RawMessage(`{}`)}})
		o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
		for _, c := range clients {
			until(t, c, "turn")
		}
		return masks.Load(), draws.Load(), (after.TotalAlloc - before.TotalAlloc) / n
	}
	_, oneDrawn, perEvent := work(1)
	masked, drawn, _ := work(20)
	if masked > n/10 || drawn != oneDrawn || drawn != 1 {
		t.Errorf("for one client a call is drawn %d times, for twenty %d; %d pieces are masked %d times", oneDrawn, drawn, n, masked)
	}
	if most := uint64(8 << 10); perEvent > most {
		t.Errorf("an event allocates %d bytes, want at most %d", perEvent, most)
	}
}

// TestStateOnly is what a list of sessions needs.
func TestStateOnly(t *testing.T) {
	o := own(t, nil)
	c := o.dial(t, live.Subscription{StateOnly: true})
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
	c := o.dial(t, live.Subscription{})
	if err := c.Send(live.Input{Type: "prompt", Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if _, l := until(t, c, "accepted"); string(l.Raw) != `{"type":"accepted","line":2}` {
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

// TestAMessageBehindTheModeIsTold: both are lines of one event, and the mode comes first.
func TestAMessageBehindTheModeIsTold(t *testing.T) {
	o := own(t, func(c *live.Config) { c.Mode = func() string { return "ask" } })
	c := o.dial(t, live.Subscription{})
	until(t, c, "live")
	o.says("m1")
	o.Observe(session.TurnEnd{})
	if seen, _ := until(t, c, "turn"); len(seen) != 1 || seen[0] != "m1" {
		t.Errorf("it was told %v", seen)
	}
}
