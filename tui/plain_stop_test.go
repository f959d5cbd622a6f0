package tui

import (
	"context"
	"strings"
	"testing"

	"adze/session"
	"adze/session/api"
	"adze/tui/plain"
)

// The first interrupt of a turn stops it and leaves the user in the program; each further one is
// not taken.
func TestAnInterruptStopsPlainWorkOnce(t *testing.T) {
	lines := make(chan plain.Line)
	begun, hold := make(chan struct{}), make(chan struct{})
	var out strings.Builder
	u := New(Options{Lines: lines, Out: &out, Send: func(ctx context.Context, _ api.Prompt) session.Result {
		begun <- struct{}{}
		<-ctx.Done()
		<-hold
		return session.Result{Cause: session.CauseInterrupted}
	}})
	if u.Interrupt() {
		t.Error("an interrupt was taken before there was anything to stop")
	}
	ended := make(chan error)
	go func() { ended <- u.RunPlain(t.Context()) }()
	for range 2 {
		lines <- plain.Line{Text: "go"}
		<-begun
		if !u.Interrupt() || u.Interrupt() {
			t.Error("want the first interrupt of the turn to be taken, and not the second")
		}
		hold <- struct{}{}
		u.turns.Wait()
	}
	lines <- plain.Line{Text: "/quit"}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "Stopping the agent."); n != 2 {
		t.Errorf("told %d times of stopping, want 2:\n%s", n, out.String())
	}
}
