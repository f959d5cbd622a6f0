package session_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"adze/session"
	"adze/tool"
)

// round answers with each of the calls in turn, for as long as it is asked.
func round(r *rig, calls ...session.Chunk) {
	for i := range 100 {
		r.model.steps = append(r.model.steps, says(calls[i%len(calls)]))
	}
}

func looks(text string) session.Chunk { return call("c", "look", `{"text":"`+text+`"}`) }

// A model that goes round in a circle is told once, and then stopped, whether its calls succeed or
// not and however long the circle is.
func TestAModelThatRepeatsItselfIsToldAndStopped(t *testing.T) {
	for name, c := range map[string]struct {
		calls []session.Chunk
		told  int // the first request that holds the note
		asked int
	}{
		"one call":                   {[]session.Chunk{looks("a")}, 4, 5},
		"a call of no tool":          {[]session.Chunk{call("c", "nothing", `{}`)}, 4, 5},
		"two in turn":                {[]session.Chunk{looks("a"), looks("b")}, 6, 9},
		"a change and a look":        {[]session.Chunk{call("c", "change", `{"text":"x"}`), looks("b")}, 6, 9},
		"four in turn":               {[]session.Chunk{looks("a"), looks("b"), looks("c"), looks("d")}, 10, 17},
		"a circle that is no period": {[]session.Chunk{looks("a"), looks("b"), looks("b"), looks("a"), looks("a")}, 6, 9},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			round(r, c.calls...)
			res := r.prompt(t, "go")
			wantCause(t, res, session.CauseLoop)
			told := 0
			for i, q := range r.model.requests {
				if last := q.Messages[len(q.Messages)-1]; last.Note && told == 0 {
					told = i + 1
				}
				if i > 0 && !reflect.DeepEqual(r.model.requests[i-1].Messages, q.Messages[:len(r.model.requests[i-1].Messages)]) {
					t.Errorf("request %d changed what was sent before", i+1)
				}
			}
			if told != c.told || len(r.model.requests) != c.asked {
				t.Errorf("told before request %d, want %d; %d requests, want %d", told, c.told, len(r.model.requests), c.asked)
			}
			if n := strings.Count(r.kinds(), "user"); n != 2 {
				t.Errorf("%d notes, want one: %s", n-1, r.kinds())
			}
		})
	}
}

// steadily answers a tool by the number of its run.
func steadily(answer func(run int) string) func(context.Context, string) (string, error) {
	run := 0
	return func(context.Context, string) (string, error) { run++; return answer(run), nil }
}

func TestWhatIsNoLoopGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(run int) string
		steps  []session.Chunk
	}{
		"a job whose output grows": {func(run int) string { return fmt.Sprintf("%d of 90 done", run) }, []session.Chunk{looks("job")}},
		"a clock of whole seconds": {func(run int) string { return fmt.Sprintf("starting, %ds elapsed", run) }, []session.Chunk{looks("job")}},
		"tests after each edit": {func(int) string { return "FAIL" }, []session.Chunk{
			call("c", "change", `{"text":"a"}`), looks("test"), call("c", "change", `{"text":"b"}`), looks("test"),
			call("c", "change", `{"text":"c"}`), looks("test"), call("c", "change", `{"text":"d"}`), looks("test"),
			call("c", "change", `{"text":"e"}`), looks("test"), call("c", "change", `{"text":"f"}`), looks("test"),
		}},
		"files read again": {func(int) string { return "text" }, []session.Chunk{
			looks("a"), looks("b"), looks("c"), looks("d"), looks("e"), looks("a"), looks("b"), looks("c"), looks("d"), looks("e"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigWith(t, []tool.Tool{noting("look", tool.Read, steadily(c.answer)), noting("change", tool.Write, echo)})
			for i := range max(30, len(c.steps)) {
				if len(c.steps) > 1 && i == len(c.steps) {
					break
				}
				r.model.steps = append(r.model.steps, says(c.steps[i%len(c.steps)]))
			}
			r.model.steps = append(r.model.steps, says(text("done")))
			wantCause(t, r.prompt(t, "go"), session.CauseDone)
			if strings.Count(r.kinds(), "user") != 1 {
				t.Errorf("the model was told something: %s", r.kinds())
			}
		})
	}
}

// How long something took is no part of its result.
func TestATestThatFailsAgainInAnotherTimeIsTheSame(t *testing.T) {
	for _, shape := range []string{"FAIL x 0.%02ds", "5 failed in 1.%d s", "exit code 1 after %dms", "ran 3 µs, 1%d.5ms"} {
		r := rigWith(t, []tool.Tool{noting("look", tool.Read, steadily(func(run int) string { return fmt.Sprintf(shape, run) }))})
		round(r, looks("test"))
		if res := r.prompt(t, "go"); res.Cause != session.CauseLoop {
			t.Errorf("%q: %s", shape, res.Cause)
		}
	}
}

// Calls that wait for something may be made longer, but not for ever.
func TestASlowLoopIsStoppedLater(t *testing.T) {
	r := newRig(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.config.Now = func() time.Time { now = now.Add(6 * time.Second); return now }
	round(r, looks("job"))
	wantCause(t, r.prompt(t, "go"), session.CauseLoop)
	if n := len(r.model.requests); n != 20 {
		t.Errorf("%d requests, want 20", n)
	}
}

// The same call twice in one answer is one repetition, and what the user says begins anew.
func TestWhatThePersonSaysBeginsAnew(t *testing.T) {
	r := newRig(t)
	round(r, looks("a"))
	s := session.New(r.config)
	r.onSee = func(e session.Event) {
		if _, ok := e.(session.ToolEnd); ok && len(r.model.requests) == 4 {
			s.Steer("look once more")
		}
	}
	r.config.Observe = r.see
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseLoop)
	if n := len(r.model.requests); n != 9 {
		t.Errorf("%d requests, want 4 and then 5", n)
	}
}

func TestANoteIsNotWhatThePersonSaid(t *testing.T) {
	r := newRig(t)
	round(r, looks("a"))
	s := session.New(r.config)
	s.Prompt(t.Context(), session.Input{Text: "go"})
	if said, err := s.Rewind(t.Context()); err != nil || said != "go" {
		t.Errorf("took back %q, %v", said, err)
	}
}

func TestTheOwnLimitDoesNotCountSubagents(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		r.model.steps = append(r.model.steps, says(looks(fmt.Sprint(i))))
	}
	r.config.Limits = session.Limits{OwnRequests: 7}
	res := r.prompt(t, "go")
	wantCause(t, res, session.CauseBudget)
	if len(r.model.requests) != 7 || !strings.Contains(res.Message, "7 model requests") {
		t.Errorf("%d requests, %s", len(r.model.requests), res.Message)
	}
}

// What a model that repeats itself was told is a note of the log: it stays where it was said when
// the session goes on, and stands behind a summary.
func TestTheNoteToOneThatRepeatsItselfLasts(t *testing.T) {
	r := newRig(t).window(4000)
	round(r, looks("a"))
	wantCause(t, r.prompt(t, "go"), session.CauseLoop)
	if n := strings.Count(r.shelf.types(), "note"); n != 1 || !r.shelf.has(session.NoteEntry, `"kind":"loop"`) {
		t.Fatalf("the log holds %s", r.shelf.types())
	}
	asked := r.model.requests[len(r.model.requests)-1].Messages
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	r.model.steps = append(r.model.steps[:len(r.model.requests)], says(text(long(1200))), says(text("in short")), says(text("on")))
	wantCause(t, again.Prompt(t.Context(), session.Input{Text: "go on"}), session.CauseDone)
	next := r.model.requests[len(r.model.requests)-1].Messages
	for i, m := range asked {
		if next[i].Note != m.Note || next[i].Text() != m.Text() {
			t.Errorf("message %d is another one: %q, was %q", i, next[i].Text(), m.Text())
		}
	}
	if got := r.changes(t); len(got) != 0 {
		t.Errorf("the prefix changed: %v", got)
	}
	wantCause(t, again.Compact(t.Context(), ""), session.CauseDone)
	wantCause(t, again.Prompt(t.Context(), session.Input{Text: "and?"}), session.CauseDone)
	last := r.model.requests[len(r.model.requests)-1].Messages
	if !last[0].Summary || len(last) < 2 || !strings.Contains(last[1].Text(), `3 times, and their results did not change: look {"text":"a"}`) {
		t.Errorf("behind the summary stands %+v", last[1:])
	}
	if text := last[1].NoteText(); !strings.HasPrefix(text, "told the model: You have made") || strings.Contains(text, "<") {
		t.Errorf("the person reads %q", text)
	}
}

// In another turn the same words are said again: the model has to know before the turn ends.
func TestARepetitionIsToldInEachTurn(t *testing.T) {
	r := newRig(t)
	round(r, looks("a"))
	s := session.New(r.config)
	for range 2 {
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseLoop)
	}
	if n := strings.Count(r.shelf.types(), "note"); n != 2 {
		t.Errorf("told %d times: %s", n, r.shelf.types())
	}
}
