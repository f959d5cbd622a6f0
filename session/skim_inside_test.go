package session

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"adze/tool"
)

// logs is a store of one log that cannot be added to.
type logs []Entry

func (logs) Lock(context.Context, ID) error                    { return nil }
func (logs) Append(context.Context, ID, ...Entry) error        { panic("nothing is added") }
func (logs) List(context.Context) ([]Head, error)              { return nil, nil }
func (logs) Close() error                                      { return nil }
func (l logs) Load(context.Context, ID) (out []Entry, _ error) { return l, nil }

// onlyReads wants the outcomes of one tool.
type onlyReads struct{}

func (onlyReads) Restores(tool string) bool            { return tool == "read" }
func (onlyReads) Restore(iter.Seq[tool.Outcome]) error { return nil }

// TestSkimmingIsReading compares the states that random logs come to when they are skimmed and when
// all of them is read.
func TestSkimmingIsReading(t *testing.T) {
	skimmed := 0
	for seed := range uint64(400) {
		g := generator{random: rand.New(rand.NewPCG(1, seed))}
		for range 3 + g.random.IntN(60) {
			g.step()
		}
		c := &Config{Storage: Storage{Store: logs(g.log), Restorer: onlyReads{}}}
		want, err := c.readSkimming(t.Context(), nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := c.read(t.Context())
		if err != nil {
			t.Fatalf("seed %d, skimmed: %v", seed, err)
		}
		if got.skim != nil {
			skimmed++
		}
		compareLogs(t, seed, got, want)
		if t.Failed() {
			t.FailNow()
		}
		s := &Session{config: *c, skimmed: got.entries, earlier: got.earlier}
		if !same(s.Earlier(), want.earlier) || !same(s.ran, want.ownOutcomes) {
			t.Fatalf("seed %d: earlier messages are %v, want %v", seed, s.Earlier(), want.earlier)
		}
	}
	if skimmed < 100 {
		t.Errorf("only %d logs were skimmed", skimmed)
	}
}

func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Len() == 0 && y.Len() == 0 || reflect.DeepEqual(a, b)
}

func compareLogs(t *testing.T, seed uint64, got, want *log) {
	t.Helper()
	differ := func(what string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d: %s\n%+v\nwant\n%+v", seed, what, a, b)
		}
	}
	differ("history", got.history, want.history)
	differ("numbers", got.messages, want.messages)
	differ("orphans", got.orphans, want.orphans)
	differ("running", got.running, want.running)
	differ("start", got.start, want.start)
	differ("mode", got.mode, want.mode)
	differ("failed", got.failed, want.failed)
	differ("used", got.earlierRequests.account.used, want.earlierRequests.account.used)
	differ("counted", got.earlierRequests.counted, want.earlierRequests.counted)
	differ("open turn", append([]pastRequest(nil), got.earlierRequests.open.requests...), append([]pastRequest(nil), want.earlierRequests.open.requests...))
	differ("found", got.found, want.found)
	// What lasts are the completed outcomes of a tool, in order.
	lasts := func(l *log) (out []string) {
		for o := range l.completed() {
			if o.Tool == "read" {
				out = append(out, fmt.Sprint(o.Call, string(o.Metadata)))
			}
		}
		return out
	}
	differ("what lasts", lasts(got), lasts(want))
}

// generator writes a log as sessions do, also such as were killed.
type generator struct {
	random  *rand.Rand
	log     []Entry
	ids     []string // of messages that may be taken back or kept
	next    int
	pending []callKey // that have begun and may end later
}

func (g *generator) add(kind EntryType, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	g.log = append(g.log, Entry{Type: kind, Time: time.Unix(int64(len(g.log)), 0), Data: raw})
}

func (g *generator) id() string {
	g.next++
	return fmt.Sprintf("m%d", g.next)
}

func (g *generator) any() string {
	if len(g.ids) == 0 || g.random.IntN(10) == 0 {
		return "m99999"
	}
	return g.ids[g.random.IntN(len(g.ids))]
}

func (g *generator) step() {
	text := func(s string) []Part { return []Part{{Kind: TextPart, Text: s + " \"\\\n{é"}} }
	switch n := g.random.IntN(24); {
	case n < 4:
		m := Message{ID: g.id(), Role: User, Parts: text("ask"), Note: g.random.IntN(6) == 0}
		g.ids = append(g.ids, m.ID)
		g.add(MessageEntry, m)
	case n < 12:
		g.answer(text("answer"))
	case n < 14:
		g.add(EndEntry, Result{Cause: []Cause{CauseDone, CauseInterrupted}[g.random.IntN(2)], Usage: map[string]Usage{"p/m": {Input: 9}}, Steps: 2})
	case n < 15:
		g.add(RewindEntry, Rewound{MessageID: g.any()})
	case n < 17:
		c := Compaction{Summary: Message{ID: g.id(), Role: User, Summary: true, Parts: text("summary")}, Provider: "p", Model: "m", Usage: &Usage{Input: 5}}
		if g.random.IntN(3) > 0 {
			c.FirstKept = g.any()
		}
		if g.random.IntN(3) == 0 {
			c.Notes = &Message{ID: g.id(), Role: User, Note: true, Parts: text("note")}
		}
		g.ids = append(g.ids, c.Summary.ID)
		g.add(CompactEntry, c)
	case n < 18:
		g.add(RequestEntry, FailedRequest{Provider: "p", Model: "m", Usage: &Usage{Input: 1}})
	case n < 19:
		g.add(FragmentEntry, Fragment{Message: g.id(), Kind: TextPart, Text: "part of", Provider: "p", Model: "m"})
		g.ids = append(g.ids, fmt.Sprintf("m%d", g.next))
	case n < 20:
		g.add(NoteEntry, Message{ID: g.id(), Role: User, Note: true, Parts: text("note")})
	case n < 21:
		g.add(UndoEntry, UndoData{ID: "u", Done: 1})
	case n < 22:
		g.add(SubagentEntry, Subagent{Session: "sub", Message: g.any(), Call: "c0"})
	case n < 23:
		g.add([]EntryType{ModeEntry, ImportEntry, StartEntry}[g.random.IntN(3)], map[string]string{"mode": "ask", "version": "1", "model": "p/m"})
	default: // what a killed process left open
		g.settle(tool.Aborted)
	}
}

// answer is one with calls, of which some end.
func (g *generator) answer(parts []Part) {
	m := Message{ID: g.id(), Role: Assistant, Parts: parts, Provider: "p", Model: "m", Usage: &Usage{Input: 10 + g.next, Output: 1}}
	if g.random.IntN(3) > 0 {
		m.Prompt = fmt.Sprint("hash", g.next)
	}
	for len(g.pending) > 0 {
		g.settle(tool.Aborted)
	}
	for i := range g.random.IntN(3) {
		m.Parts = append(m.Parts, Part{Kind: CallPart, Call: &tool.RawCall{ID: tool.CallID(fmt.Sprintf("c%d", i)), Name: "read", Arguments: "{}"}})
	}
	g.ids = append(g.ids, m.ID)
	g.add(MessageEntry, m)
	for _, call := range m.Calls() {
		key := callKey{m.ID, call.ID}
		if g.random.IntN(2) == 0 {
			in := Intended{Record: tool.Record{Message: m.ID, Call: call.ID, Tool: "bash"}}
			if g.random.IntN(2) == 0 {
				in.Undo = &State{Mark: "a", Time: int64(g.next)}
			}
			g.add(IntentEntry, in)
		}
		g.pending = append(g.pending, key)
	}
	g.next++ // the outcomes' message
	for len(g.pending) > 0 && g.random.IntN(8) > 0 {
		g.settle([]tool.Status{tool.Completed, tool.Failed}[g.random.IntN(2)])
	}
}

// settle ends the oldest call.
func (g *generator) settle(as tool.Status) {
	if len(g.pending) == 0 {
		return
	}
	key := g.pending[0]
	g.pending = g.pending[1:]
	if g.random.IntN(6) == 0 {
		g.add(ChangedEntry, Window{Message: key.message, Call: key.call, After: &State{}})
	}
	e := Ended{Outcome: tool.Outcome{Call: key.call, Tool: []string{"read", "bash"}[g.random.IntN(2)], Status: as, Output: "out \"}", Record: tool.Record{Message: key.message}}}
	e.Metadata = json.RawMessage(fmt.Sprintf(`{"n":%d}`, g.next))
	if g.random.IntN(3) == 0 {
		e.Undo = &Window{Before: State{Mark: "a"}}
		if g.random.IntN(2) == 0 {
			e.Undo.After = &State{Mark: "b"}
		}
	}
	g.add(OutcomeEntry, e)
}
