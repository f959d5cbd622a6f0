package session_test

import (
	"strings"
	"testing"

	"adze/session"
)

// What the server could not read goes back to the model, once in a row; then the turn ends as any
// failure does.
func TestAStumbleIsFedBackOnce(t *testing.T) {
	stumble := func(kind session.ErrorKind) func() []session.Chunk {
		return func() []session.Chunk {
			return []session.Chunk{session.Done{Stop: session.StopError, Err: &session.ProviderError{
				Kind: kind, Status: 400, Message: "groq: failed to call a function", UnparsedCall: `<function=look{"path":"a"}</function>`}}}
		}
	}
	for _, kind := range []session.ErrorKind{session.BadResponse, session.ServerError} {
		fails := only(stumble(kind)()...)
		r := newRig(t, fails, says(looks("a")), fails, says(text("done")))
		wantCause(t, r.prompt(t, "go"), session.CauseDone)
		if len(r.model.requests) != 4 {
			t.Fatalf("%d requests", len(r.model.requests))
		}
		asked := r.model.requests[1].Messages
		last := asked[len(asked)-1]
		if !last.Note || !strings.Contains(last.Text(), `<function=look{"path":"a"}</function>`) || !strings.Contains(last.Text(), "failed to call a function") {
			t.Errorf("the model was told %+v", last)
		}
		r = newRig(t, fails, fails, says(text("done")))
		wantCause(t, r.prompt(t, "go"), session.CauseProvider)
		if len(r.model.requests) != 2 {
			t.Errorf("%d requests", len(r.model.requests))
		}
	}
}
