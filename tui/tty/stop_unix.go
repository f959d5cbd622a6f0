//go:build unix

package tty

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopPatience is how long to wait for being stopped. Where nobody could continue the process, the
// kernel does not stop it (POSIX: orphaned process groups); then it goes on by itself.
const stopPatience = 300 * time.Millisecond

// stopProcess stops the process group, as ctrl+z does in a terminal that is not in raw mode, and
// returns when it is continued.
func stopProcess() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTSTP) // what cannot be stopped goes on
	select {
	case <-continued:
	case <-time.After(stopPatience):
	}
}

// continued takes the terminal again and calls then, whenever the process was stopped from outside
// and goes on: the shell has set the terminal's modes for itself.
func (t *Terminal) continued(ctx context.Context, then func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCONT)
	defer signal.Stop(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			if t.Retake() {
				then()
			}
		}
	}
}
