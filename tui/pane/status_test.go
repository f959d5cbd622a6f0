package pane_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"adze/session"
	"adze/tui/draw"
	"adze/tui/pane"
)

// TestTheStatusLineCountsWhatIsNotSaved, first of all facts, until it is.
func TestTheStatusLineCountsWhatIsNotSaved(t *testing.T) {
	s := pane.NewStatus(draw.Choose("none", func(string) string { return "" }, draw.UnknownGround), pane.Facts{Mode: "ask", Model: "m"})
	line := func() string { return ansi.Strip(s.Rows(40, pane.Moment{})[0].String()) }
	s.Apply(session.Unsaved{Entries: 3, Cause: "the disk is full"})
	if got := line(); !strings.HasPrefix(got, "not saved, 3 waiting") || !strings.Contains(got, "ask") {
		t.Errorf("it says %q", got)
	}
	s.Apply(session.Unsaved{})
	if got := line(); strings.Contains(got, "saved") {
		t.Errorf("afterwards it says %q", got)
	}
}
