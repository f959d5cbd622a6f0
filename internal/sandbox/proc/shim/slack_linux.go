package shim

import "syscall"

// Slack is by how much timers of a thread may be late, in nanoseconds (prctl(2),
// PR_SET_TIMERSLACK).
type Slack uintptr

const (
	// Usual is what the system gives.
	Usual Slack = 50_000
	// Patient is that of a shim. Go looks after its threads every 20 µs plus this as long as one of
	// them is in a system call, and that of a shim waits for its command in one.
	Patient Slack = 1_000_000
)

const (
	prSetTimerSlack = 29
	prGetTimerSlack = 30
)

// SetSlack sets that of the calling thread, which must be locked, where it is another one; what the
// thread starts inherits it.
func SetSlack(from, to Slack) {
	if is, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, prGetTimerSlack, 0, 0); err == 0 && Slack(is) == from {
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, uintptr(to), 0)
	}
}
