package session_test

import (
	"strings"
	"testing"

	"adze/session"
)

func cutAt(chunks ...session.Chunk) []session.Chunk {
	return append(chunks, session.Done{Stop: session.StopLength, Usage: session.Usage{Output: 9}})
}

// A call that was cut is never run, and the model is told once.
func TestACutCallIsFedBackOnce(t *testing.T) {
	for name, cut := range map[string][]session.Chunk{
		"while it was written":    cutAt(text("I write"), session.Forming{ID: "c", Name: "change", Bytes: 90}),
		"nothing before it":       cutAt(session.Forming{ID: "c", Name: "change", Bytes: 90}),
		"behind a whole one":      cutAt(call("c1", "change", `{"text":"x"}`)),
		"a call without its name": cutAt(session.Forming{ID: "c"}),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, only(cut...), says(text("done")))
			wantCause(t, r.prompt(t, "go"), session.CauseDone)
			asked := r.model.requests[1].Messages
			last := asked[len(asked)-1]
			if !last.Note || !strings.Contains(last.Text(), "cut at the output limit") || !strings.Contains(last.Text(), "smaller pieces") {
				t.Errorf("the model was told %+v", last)
			}
			if got := r.outcomes(t); len(got) != 0 {
				t.Errorf("calls ran: %v", got)
			}

			r = newRig(t, only(cut...), only(cut...), says(text("done")))
			wantCause(t, r.prompt(t, "go"), session.CauseTruncated)
			if got := r.outcomes(t); len(got) != 0 || len(r.model.requests) != 2 {
				t.Errorf("%d requests, calls ran: %v", len(r.model.requests), got)
			}
		})
	}
}

// After an answer that came whole, a cut call is told of again.
func TestEachRunOfCutCallsIsToldOnce(t *testing.T) {
	cut := only(cutAt(session.Forming{Name: "change"})...)
	r := newRig(t, cut, says(looks("a")), cut, says(text("done")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
}

func TestTextThatWasCutIsKept(t *testing.T) {
	r := newRig(t, only(cutAt(text("half of it"))...), says(text("the rest")))
	s := session.New(r.config)
	res := s.Prompt(t.Context(), session.Input{Text: "go"})
	wantCause(t, res, session.CauseTruncated)
	wantText(t, "text", res.Text, "half of it")
	wantText(t, "log", r.shelf.types(), "start message message end")
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go on"}), session.CauseDone)
	if n := len(r.model.requests[1].Messages); n != 3 {
		t.Errorf("the second prompt was sent with %d messages, want 3", n)
	}
}
