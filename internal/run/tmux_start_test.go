package run_test

import "testing"

// TestAStartThatFailsLeavesTheTerminal: what cannot be opened is told where the user reads it, with
// the exit code that scripts know, although a first frame was drawn.
func TestAStartThatFailsLeavesTheTerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(100, 30)
	p.begin("--resume", "nosuchsession")
	p.sees("error: ", "nosuchsession")
	p.restored(2)
}
