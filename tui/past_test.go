package tui

import "testing"

// TestHistoryIsWaitedFor: up that is pressed before what was written earlier has been read goes
// there all the same.
func TestHistoryIsWaitedFor(t *testing.T) {
	p := newPlayer(t, nil)
	*p.m.ports = p.ports()
	p.m.Init()
	p.send(keyPress(t, "up"))
	p.m.prompt.Earlier([]string{"the first", "the last"})
	if got := p.m.prompt.Text; got != "the last" {
		t.Errorf("the prompt holds %q", got)
	}
}
