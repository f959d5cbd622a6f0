// Package signals ends a run by the signals that a process gets.
//
// The one rule: the first one ends the run in order, the second one the process.
//
// Start reading at Watch. Known limits: none that is known.
package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adze/session"
)

// Watch ends ctx on the first SIGINT, SIGHUP or signal of ending, with a cause that names it. On
// the second, insist is called: whatever hangs, the process ends. A SIGHUP never insists: a
// terminal that is closed sends it more than once, from the shell and from the kernel. A SIGINT
// that taken takes ends nothing; nil takes none. Stop releases the signals, beside what comes next.
func Watch(cancel context.CancelCauseFunc, insist func(session.Cause), taken func() bool) (stop func()) {
	// SIGPIPE is caught and dropped, so that a closed stdout is an error of write and not the end
	// of the process without its result. It is not ignored: children would inherit that.
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
		// Releasing a signal takes two changes of thread: 0.2 ms in all, which a process that ends
		// now need not wait for.
		go signal.Stop(signals)
	}
}
