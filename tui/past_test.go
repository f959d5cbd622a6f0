package tui

import (
	"testing"

	"adze/tui/prompt"
)

// TestHistoryIsWaitedFor: up that is pressed before what was written earlier has been read goes
// there all the same.
func TestHistoryIsWaitedFor(t *testing.T) {
	p := newPlayer(t, nil)
	*p.m.ports = p.ports()
	p.m.Init()
	p.send(keyPress(t, "up"))
	p.send(prompt.Earlier{"the first", "the last"})
	if got := p.m.prompt.Text; got != "the last" {
		t.Errorf("the prompt holds %q", got)
	}
}
