//go:build unix

package signals

import (
	"errors"
	"syscall"
	"testing"

	"adze/session"
)

// A terminal that is closed hangs up twice, and its run must still end in order; whoever asks twice
// insists.
func TestASecondHangupDoesNotInsist(t *testing.T) {
	ended, insisted := make(chan error, 4), make(chan session.Cause, 4)
	stop := Watch(func(err error) { ended <- err }, func(c session.Cause) { insisted <- c }, nil)
	defer stop()
	for _, step := range []struct {
		signal syscall.Signal
		insist bool
	}{{syscall.SIGHUP, false}, {syscall.SIGHUP, false}, {syscall.SIGTERM, true}, {syscall.SIGQUIT, true}, {syscall.SIGABRT, true}} {
		if err := syscall.Kill(syscall.Getpid(), step.signal); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, session.ErrTerminated) {
			t.Errorf("%v ended it with %v", step.signal, err)
		}
		if got := len(insisted); (got > 0) != step.insist {
			t.Errorf("after %v: insisted %d times", step.signal, got)
		}
	}
}
