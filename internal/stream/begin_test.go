package stream_test

import (
	"bytes"
	"strings"
	"testing"

	"adze/internal/stream"
	"adze/session"
)

// The first line names a session to go on with, so it waits for the commit of the first message;
// what came before it comes behind it.
func TestTheFirstLineWaitsForTheFirstCommit(t *testing.T) {
	var out bytes.Buffer
	p := &stream.Printer{Out: &out, Err: &bytes.Buffer{}, Format: stream.StreamJSON}
	p.Begin(stream.Head{Session: "s1"})
	p.Observe(session.Notice{Text: "early"})
	if out.Len() > 0 {
		t.Fatalf("written before the commit: %s", &out)
	}
	p.Observe(session.MessageDone{Message: session.Message{Role: session.User}})
	p.Finish(session.Result{Cause: session.CauseDone})
	wantTypes(t, out.String(), "init notice result")
}

func TestARunWhoseSessionCannotBeStoredHasAResult(t *testing.T) {
	var out bytes.Buffer
	p := &stream.Printer{Out: &out, Err: &bytes.Buffer{}, Format: stream.StreamJSON}
	p.Begin(stream.Head{Session: "s1"})
	p.Observe(session.Notice{Text: "early"})
	p.Finish(session.Result{Cause: session.CauseStore})
	wantTypes(t, out.String(), "notice result")
}

func wantTypes(t *testing.T, out, want string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(out) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		got = append(got, kind)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}
