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

// A name in a notice cannot make a notice of its own: only the first line has the mark.
func TestLinesOfANoticeAreLines(t *testing.T) {
	var errs bytes.Buffer
	p := &stream.Printer{Out: &bytes.Buffer{}, Err: &errs, Format: stream.Text}
	p.Begin(stream.Head{Session: "s1"})
	p.Observe(session.Notice{Text: "2 changed files wait\nadded a\r\x1b[31m\nadded b"})
	if got := errs.String(); !strings.HasPrefix(got, "! 2 changed files wait\n  added a") || !strings.HasSuffix(got, "\n  added b\n") || strings.Contains(got, "\x1b") || strings.Contains(got, "\r") {
		t.Errorf("%q", got)
	}
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
