package session_test

import (
	"context"
	"strings"
	"testing"

	"adze/session"
)

// An answer of nothing, or of thoughts only, is no end in any step: the model is told once which
// tools there are, then the turn ends with its own cause, and no older text is its answer.
func TestAnAnswerOfNothingIsNoEnd(t *testing.T) {
	thinks := says(session.Reasoning{Delta: "I should read it."})
	blank := says(text(" \n"))
	change := says(text("I change it."), call("c1", "change", `{"text":"x"}`))
	type step = func(context.Context, func(session.Chunk) bool)
	for name, c := range map[string]struct {
		steps    []step
		cause    session.Cause
		text     string
		requests int
		notes    int
	}{
		"at once, twice":                   {[]step{says(), says()}, session.CauseNoAnswer, "", 2, 1},
		"thoughts only, twice":             {[]step{thinks, thinks}, session.CauseNoAnswer, "", 2, 1},
		"white space, then nothing":        {[]step{blank, says()}, session.CauseNoAnswer, "", 2, 1},
		"after a call":                     {[]step{change, says(), says()}, session.CauseNoAnswer, "", 3, 1},
		"after a call, thoughts":           {[]step{change, thinks, says()}, session.CauseNoAnswer, "", 3, 1},
		"once, then an answer":             {[]step{says(), says(text("here"))}, session.CauseDone, "here", 2, 1},
		"thoughts, then an answer":         {[]step{change, thinks, says(text("here"))}, session.CauseDone, "here", 3, 1},
		"once, a call, once more, answers": {[]step{says(), change, thinks, says(text("here"))}, session.CauseDone, "here", 4, 2},
		"ever again after calls": {[]step{says(), change, says(), change, says(), change, says(), change, says()},
			session.CauseNoAnswer, "", 7, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.steps...)
			res := r.prompt(t, "go")
			wantCause(t, res, c.cause)
			wantText(t, "text", res.Text, c.text)
			if len(r.model.requests) != c.requests {
				t.Fatalf("%d requests, want %d", len(r.model.requests), c.requests)
			}
			notes := 0
			last := r.model.requests[c.requests-1]
			for i, m := range last.Messages {
				if i > 0 && m.Role == session.User && strings.Contains(m.Text(), "exactly these names") && strings.Contains(m.Text(), "change") {
					notes++
				}
			}
			if notes != c.notes {
				t.Errorf("the model was told %d times, want %d", notes, c.notes)
			}
			if c.cause == session.CauseNoAnswer && (res.Hint == "" || !strings.Contains(res.Message, "nothing") && !strings.Contains(res.Message, "neither")) {
				t.Errorf("%q, hint %q", res.Message, res.Hint)
			}
		})
	}
}

// What the model is told comes at the end: the request begins with the one before.
func TestANoteAboutNothingBreaksNoPrefix(t *testing.T) {
	thinks := says(session.Reasoning{Delta: "Hm."})
	r := newRig(t, thinks, says(text("here")))
	r.prompt(t, "go")
	first, second := r.model.requests[0], r.model.requests[1]
	for i, m := range first.Messages {
		if second.Messages[i].ID != m.ID {
			t.Errorf("message %d changed", i)
		}
	}
	if first.ToolsDigest != second.ToolsDigest || first.System != second.System {
		t.Error("tools or system prompt changed")
	}
	for _, e := range r.events {
		if p, ok := e.(session.PrefixChanged); ok {
			t.Errorf("told of a change of the prefix: %v", p)
		}
	}
}
