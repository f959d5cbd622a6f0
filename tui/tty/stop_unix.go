//go:build unix

package tty

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopPatience is the time to wait for the stop. The kernel does not stop a process that nobody
// could continue (POSIX: orphaned process groups); it then goes on.
const stopPatience = 300 * time.Millisecond

// stopProcess stops the process group, like ctrl+z in a terminal not in raw mode, and returns when
// it is continued.
func stopProcess() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTSTP) // a failure means that it goes on
	select {
	case <-continued:
	case <-time.After(stopPatience):
	}
}

// continued takes over the terminal again and calls then whenever the process continues after a
// stop from outside: the shell has set its own terminal modes.
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
