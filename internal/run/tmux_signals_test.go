//go:build unix

package run_test

import (
	"strings"
	"syscall"
	"testing"
)

// TestEverySignalGivesTheTerminalBack: whatever ends adze from outside and can be caught leaves the
// shell its terminal, also when it has to be said twice.
func TestEverySignalGivesTheTerminalBack(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGUSR1, syscall.SIGALRM, syscall.SIGXCPU} {
		t.Run(sig.String(), func(t *testing.T) {
			u := newUser(t)
			p := u.openPane(80, 24)
			p.adze(u.script("-- 1 --\ntext: Nothing.\n"))
			p.signal(sig)
			p.until("the shell as it was", func() bool {
				return strings.TrimSpace(p.tmux("display-message", "-p", "#{alternate_on}")) == "0" && p.modes() == p.before
			})
			p.shell("echo $?")
			p.sees("143")
		})
	}
}
