//go:build unix

package run_test

import (
	"strings"
	"syscall"
	"testing"
)

// TestStoppedFromOutsideInATerminal: after SIGSTOP, of which nothing is told, fg brings all of it
// back.
func TestStoppedFromOutsideInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: Nothing.\n"))
	p.text("half a thought")
	p.sees("❯ half a thought")
	p.signal(syscall.SIGSTOP)
	p.sees("ended with 147")                    // of the shell, which has the terminal now
	p.tmux("send-keys", "-H", "66", "67", "0a") // fg; the terminal's modes are still ours: enter ends no line
	p.until("adze in the place of the shell", func() bool { return !strings.Contains(p.screen(), "ended with 147") })
	p.sees("❯ half a thought", "F1: keys")
	p.text(", and its end")
	p.sees("❯ half a thought, and its end")
	p.keys("C-u")
	p.sees("Ask, or say what to do")
	p.keys("C-d")
	p.until("the shell as it was", func() bool { return p.modes() == p.before })
}
