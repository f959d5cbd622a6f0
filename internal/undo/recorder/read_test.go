package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/undo"
	"adze/session"
	"adze/tool"
)

// logs are written logs.
type logs map[session.ID][]session.Entry

func (l logs) Load(_ context.Context, id session.ID) ([]session.Entry, error) {
	if e, ok := l[id]; ok {
		return e, nil
	}
	return nil, session.ErrNotFound
}

func (l logs) add(t *testing.T, id session.ID, kind session.EntryType, at int64, data any) {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	l[id] = append(l[id], session.Entry{Type: kind, Time: time.Unix(0, at), Data: raw})
}

func mark(n int) string { return fmt.Sprintf("%064x", n) }

func state(n int) session.State { return session.State{Root: "/w", Mark: mark(n), Time: int64(n)} }

func user(id, text string) session.Message {
	return session.Message{ID: id, Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}
}

// call adds the two entries of a call that changed a file between two states.
func (l logs) call(t *testing.T, id session.ID, message, call string, from, to int) {
	t.Helper()
	before, after := state(from), state(to)
	record := tool.Record{Message: message, Call: tool.CallID(call)}
	l.add(t, id, session.IntentEntry, before.Time, session.Intended{Record: record, Undo: &before})
	l.add(t, id, session.OutcomeEntry, after.Time, session.Ended{Outcome: tool.Outcome{Call: record.Call, Record: record},
		Undo: &session.Window{Before: before, After: &after, Changes: []session.FileChange{{Path: "f" + call}}}})
}

func TestALogBecomesTurns(t *testing.T) {
	l := logs{}
	l.add(t, "s", session.MessageEntry, 1, user("m1", "first\nand more"))
	l.add(t, "s", session.MessageEntry, 1, session.Message{ID: "m2", Role: session.Assistant})
	l.call(t, "s", "m2", "c1", 10, 11)
	said := user("m4", "hurry up")
	said.Meanwhile = true
	l.add(t, "s", session.MessageEntry, 12, said)
	l.add(t, "s", session.MessageEntry, 12, session.Message{ID: "m5", Role: session.Assistant})
	l.add(t, "s", session.SubagentEntry, 13, session.Subagent{Session: "sub", Message: "m5", Call: "c2"})
	l.call(t, "sub", "m2", "c1", 14, 15)
	// The process ended here, and no end of the turn stands in the log.
	own := user("m7", "I ran this command myself (completed):\n$ rm x\n\nout")
	own.OwnCall = "person-m7"
	l.call(t, "s", "m7", "person-m7", 20, 21)
	l.add(t, "s", session.MessageEntry, 22, own)
	l.add(t, "s", session.EndEntry, 22, session.Result{})
	hook := session.Window{Before: state(30), After: new(session.State), Hook: "prompt", Changes: []session.FileChange{{Path: "hooked"}}}
	*hook.After = state(31)
	l.add(t, "s", session.ChangedEntry, 31, hook)
	l.add(t, "s", session.MessageEntry, 32, user("m8", "third"))
	open := state(33)
	l.add(t, "s", session.MessageEntry, 32, session.Message{ID: "m9", Role: session.Assistant})
	l.add(t, "s", session.IntentEntry, 33, session.Intended{Record: tool.Record{Message: "m9", Call: "c1"}, Undo: &open})
	past, err := Read(t.Context(), l, "s")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, turn := range past.Turns {
		got = append(got, fmt.Sprintf("%d %s %s %s %d %v", turn.Number, turn.Message, turn.Asked, strings.Join(turn.Paths(), " "), len(turn.Windows), turn.Changed()))
	}
	want := []string{"1 m1 first fc1 2 true", "2 m7 !rm x fperson-m7 1 true", "3 m8 third hooked 2 true"}
	if !slices.Equal(got, want) {
		t.Errorf("turns\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(Marks(l["s"])); n != 7 {
		t.Errorf("%d states are named, want 7", n)
	}
}

func TestUndosAndRedosSayWhatIsUndoneNow(t *testing.T) {
	l := logs{}
	for i, id := range []string{"m1", "m2"} {
		l.add(t, "s", session.MessageEntry, int64(i), user(id, id))
		l.add(t, "s", session.EndEntry, int64(i), session.Result{})
	}
	after := state(9)
	undo := func(id, redo string, done int, ended bool, turns ...string) {
		u := session.UndoData{ID: id, Redo: redo, Turns: turns, Done: done, Window: session.Window{Before: state(8)}}
		l.add(t, "s", session.UndoEntry, 8, u)
		if ended {
			u.After = &after
			l.add(t, "s", session.UndoEntry, 9, u)
		}
	}
	now := func() string {
		past, err := Read(t.Context(), l, "s")
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, u := range past.Undos {
			ids = append(ids, u.ID)
		}
		return fmt.Sprint(past.Turns[0].Undone, past.Turns[1].Undone, ids)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "false false []"},
		{func() { undo("a", "", 1, true, "m2") }, "false true [a]"},
		{func() { undo("b", "", 0, true, "m1") }, "false true [a]"},  // all was refused
		{func() { undo("c", "", 1, false, "m1") }, "false true [a]"}, // it was killed, and nobody knows yet
		{func() { undo("c", "", 1, true, "m1") }, "true true [a c]"}, {func() { undo("d", "c", 1, true, "m1") }, "false true [a]"},
		{func() { undo("e", "a", 2, true, "m2") }, "false false []"},
	} {
		step.do()
		if got := now(); got != step.want {
			t.Errorf("undone: %s, want %s", got, step.want)
		}
	}
}

// TestStretchesAreTheTimesInWhichAChosenCallRan compares with a count of moments: windows that
// overlap in any way are cut so that each moment counts once, and those of nobody known only where
// no known call ran.
func TestStretchesAreTheTimesInWhichAChosenCallRan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		past := &History{}
		type moment struct{ chosen, unsure bool }
		var times [60]moment
		for n := range 2 + random.IntN(5) {
			turn := Turn{Number: n + 1}
			for range 1 + random.IntN(3) {
				from := 1 + random.IntN(50)
				to := from + 1 + random.IntN(8)
				w := session.Window{Before: state(from), After: new(session.State)}
				*w.After = state(to)
				if random.IntN(5) == 0 {
					w.Author = session.ByUnknown
				}
				turn.Windows = append(turn.Windows, w)
				for i := from; i < to && n%2 == 0; i++ {
					times[i].chosen = times[i].chosen || w.Author == ""
					times[i].unsure = times[i].unsure || w.Author != ""
				}
			}
			past.Turns = append(past.Turns, turn)
		}
		known, unknown, err := stretches(slices.DeleteFunc(slices.Clone(past.Turns), func(t Turn) bool { return t.Number%2 == 0 }), "/w", undo.Mark{}, false)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, windows []undo.Window, want func(moment) bool) {
			var got [60]bool
			for _, w := range windows {
				var from, to int
				_, _ = fmt.Sscanf(w.Before.String(), "%x", &from) // as mark wrote it
				_, _ = fmt.Sscanf(w.After.String(), "%x", &to)
				for i := from; i < to; i++ {
					if got[i] {
						t.Errorf("round %d: %s counts moment %d twice", round, what, i)
					}
					got[i] = true
				}
			}
			for i, m := range times {
				if got[i] != want(m) {
					t.Fatalf("round %d: %s at moment %d is %v, want %v", round, what, i, got[i], want(m))
				}
			}
		}
		check("known", joined(known), func(m moment) bool { return m.chosen })
		check("unknown", joined(unknown), func(m moment) bool { return m.unsure })
		check("all", joined(slices.Concat(known, unknown)), func(m moment) bool { return m.chosen || m.unsure })
	}
}
