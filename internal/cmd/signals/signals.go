// Package signals ends a run at a signal.
//
// The one rule: the first signal ends the run in order, the second one the process.
//
// Start reading at Watch. Known limits: none.
package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adze/session"
)

// Watch cancels on the first SIGINT, SIGHUP or ending signal, with a cause that names it. On the
// second it calls insist, which ends the process even if something hangs. A SIGHUP never insists:
// closing a terminal sends several, from the shell and from the kernel. A SIGINT for which taken
// returns true is ignored; taken may be nil. stop releases the signals in the background.
func Watch(cancel context.CancelCauseFunc, insist func(session.Cause), taken func() bool) (stop func()) {
	// SIGPIPE is caught and dropped, so that a closed stdout is a write error and does not kill the
	// process without a result. Children would inherit an ignored signal.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGHUP, syscall.SIGPIPE)
	signal.Notify(signals, ending()...)
	done := make(chan struct{})
	go func() {
		seen := 0
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				if s == syscall.SIGPIPE || s == os.Interrupt && taken != nil && taken() {
					continue
				}
				err, cause := session.ErrTerminated, session.CauseTerminated
				if s == os.Interrupt {
					err, cause = session.ErrInterrupted, session.CauseInterrupted
				}
				if seen++; seen > 1 && s != syscall.SIGHUP {
					insist(cause)
				}
				cancel(err)
			}
		}
	}()
	return func() {
		close(done)
		// Releasing a signal takes two thread switches, 0.2 ms, which an ending process need not
		// wait for.
		go signal.Stop(signals)
	}
}
