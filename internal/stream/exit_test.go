package stream_test

import (
	"os"
	"strings"
	"testing"

	"adze/internal/stream"
	"adze/session"
)

// TestExitCodes holds the numbers that scripts rely on (docs/scripts.md, "Exit codes").
func TestExitCodes(t *testing.T) {
	for cause, want := range map[session.Cause]int{
		session.CauseDone: 0, session.CauseInternal: 1, session.CauseUsage: 2, session.CauseNoModel: 3,
		session.CauseProvider: 4, session.CauseContext: 5, session.CauseBudget: 6, session.CauseDenied: 7,
		session.CauseTool: 8, session.CauseRefused: 9, session.CauseStore: 10, session.CauseClosed: 11,
		session.CauseTruncated: 12, session.CauseLoop: 13,
		session.CauseNoAnswer:    14,
		session.CauseInterrupted: 130, session.CauseTerminated: 143, "something new": 1,
	} {
		if got := stream.ExitCode(cause); got != want {
			t.Errorf("%s exits with %d, want %d", cause, got, want)
		}
	}
}

func TestTheDocumentsListTheExitCodes(t *testing.T) {
	text, err := os.ReadFile("../../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), stream.ExitCodes) {
		t.Errorf("docs/scripts.md does not list %s", stream.ExitCodes)
	}
}
