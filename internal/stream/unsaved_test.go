package stream_test

import (
	"bytes"
	"testing"

	"adze/internal/stream"
	"adze/session"
)

// What cannot be saved is not told: it follows when it is, in order, and not at all when it never
// was.
func TestWhatIsNotSavedIsNotTold(t *testing.T) {
	for name, c := range map[string]struct {
		saved bool
		want  string
	}{
		"saved in the end": {true, "init text unsaved unsaved unsaved text message tool_end result"},
		"never saved":      {false, "init text unsaved unsaved result"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &stream.Printer{Out: &out, Err: &bytes.Buffer{}, Format: stream.StreamJSON}
			p.Begin(stream.Head{Session: "s1"})
			p.Observe(session.MessageDone{Message: session.Message{ID: "m1", Role: session.User}})
			p.Observe(session.TextDelta{Message: "m2", Delta: "one two "})
			p.Observe(session.Unsaved{Entries: 1, Cause: "no room"})
			p.Observe(session.TextDelta{Message: "m2", Delta: "three four "})
			p.Observe(session.MessageDone{Message: session.Message{ID: "m2", Role: session.Assistant}})
			p.Observe(session.Unsaved{Entries: 2, Cause: "no room"})
			p.Observe(session.ToolEnd{})
			if c.saved {
				p.Observe(session.Unsaved{})
			}
			p.Finish(session.Result{Cause: session.CauseStore})
			wantTypes(t, out.String(), c.want)
		})
	}
}
