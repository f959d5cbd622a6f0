// Package shim is the small supervising process between adze and every command.
//
// adze starts its own binary again with Word as first argument. That process, the shim, leads its
// own session, adopts every orphan below it (subreaper), and starts the command in a further
// session. It holds one end of a pipe, the lifeline, whose other end only adze holds. When the
// command exits, or the lifeline closes (at adze's request or death, even by SIGKILL), the shim
// ends every process left below it and reports on the status pipe.
//
// The one rule: nothing below a shim outlives it. Killing a process group leaves setsid jobs alive,
// and a parent-death signal leaves grandchildren alive; an adopting parent with a lifeline leaves
// none.
//
// Start reading at Main, then supervisor.run, then sweep.go.
//
// Rules of this package: it imports only the standard library, and little of it (see init), because
// every command pays for each import.
//
// Known limits: another user's process (sudo) cannot be killed and counts as a survivor. A command
// escapes if it kills its shim with SIGKILL and leaves both its session and its environment; only a
// pid namespace prevents that. Outside Linux there is no adoption and no process tree: the
// command's process group is killed, and a job outside the group survives.
package shim

import "syscall"

// Word is the hidden first argument that makes this binary a shim. The second is the call's tag,
// for users reading ps.
const Word = "__shim"

// Event is one line of the status pipe. A shim writes Begun if it has walls, then Failed, or
// Started, Exited, Gone in this order; Exited is missing if the command itself could not be ended.
type Event struct {
	Kind      Kind
	PID       int           // Started: the command's
	Errno     syscall.Errno // Failed
	Code      int           // Exited: exit code, -1 after a signal
	Sig       syscall.Signal
	Ended     int    // Gone: how many other processes were ended
	Survivors int    // Gone: how many could not be ended
	Step      string // Unboxed: failed step
	Excess    Excess // Exceeded
}

// Kind is a status line's kind.
type Kind string

// Line kinds.
const (
	Started Kind = "start"
	Failed  Kind = "fail"
	Exited  Kind = "exit"
	Gone    Kind = "gone"

	Begun    Kind = "begun"    // first, if there are walls: without it nothing ran
	Unboxed  Kind = "unboxed"  // in place of Started: the box could not be built, so nothing ran
	Exceeded Kind = "exceeded" // between Started and Exited: the command exceeded a limit and is ended
)

// Excess is the limit exceeded by a command.
type Excess int

const (
	Memory    Excess = 1
	Processes Excess = 2
)
