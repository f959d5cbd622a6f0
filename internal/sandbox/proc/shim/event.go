// Package shim is the small process that stands between adze and every command it runs.
//
// adze starts its own binary again with Word as first argument. That process, the shim, leads a
// session of its own, adopts every orphan below it (subreaper), starts the command in a further
// session, and holds one end of a pipe, the lifeline, whose other end only adze holds. When the
// command exits, or the lifeline closes (adze asked for the end, or died, even by SIGKILL), the
// shim ends every process that is left below it and says on the status pipe what happened.
//
// The one rule: nothing below a shim outlives it. Killing a process group leaves setsid jobs alive,
// and a parent-death signal leaves grandchildren alive; an adopting parent with a lifeline left
// none.
//
// Start reading at Main, then supervisor.run, then sweep.go.
//
// Rules of this package: it imports only the standard library, and little of it (see init), because
// each import is paid by every command.
//
// Known limits: a process of another user (sudo) cannot be killed and is counted as a survivor.
// A command that kills its shim with SIGKILL and leaves both its session and its environment behind
// escapes; only a pid namespace stops that. Outside Linux there is no adoption and no process tree:
// the command's process group is killed, and a job that left the group survives.
package shim

import "syscall"

// Word is the hidden first argument that makes this binary a shim. The second is the call's tag,
// there only so that a user reading ps can tell the shims apart.
const Word = "__shim"

// Event is one line of the status pipe. A shim writes Begun if it has walls, then Failed, or
// Started, Exited, Gone in this order; Exited is missing when the command itself could not be
// ended.
type Event struct {
	Kind  Kind
	PID   int           // Started: the command
	Errno syscall.Errno // Failed
	Code  int           // Exited: exit code, -1 when a signal ended the command
	Sig   syscall.Signal
	Ended int    // Gone: processes besides the command that were ended
	Left  int    // Gone: processes that could not be ended
	Step  string // Unboxed: what could not be done
	Much  Excess // Exceeded
}

// Kind tells the lines of the status pipe apart.
type Kind string

// The lines a shim writes.
const (
	Started Kind = "start"
	Failed  Kind = "fail"
	Exited  Kind = "exit"
	Gone    Kind = "gone"

	Begun    Kind = "begun"    // first, where there are walls: without it nothing ran
	Unboxed  Kind = "unboxed"  // instead of Started: its box could not be built; nothing ran
	Exceeded Kind = "exceeded" // between Started and Exited: the command is ended because it took too much
)

// Excess is what a command took too much of.
type Excess int

// What the watch bounds.
const (
	Memory    Excess = 1
	Processes Excess = 2
)
