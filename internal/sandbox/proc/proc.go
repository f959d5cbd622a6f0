// Package proc runs commands so that no process outlives its purpose.
//
// Each command runs below a shim (see package shim): its own session, no controlling terminal,
// standard input closed. It ends when it exits, at its timeout, with its context, when it writes
// too much, or when adze dies, and then all its processes end: background jobs, setsid, double
// forks. Its output is counted exactly and kept in bounded memory.
//
// The one rule: the caller's memory and time are bounded whatever the command does.
//
// Start reading at Command and Result, then Supervisor.Start and Process. Jobs runs background
// commands, Ledger finds leftovers after a crash, Environ makes a command's environment.
//
// A program that links this package needs no call at its start: package shim takes over by itself
// when the program is started as a shim. Many files exist once for Linux and once for other systems
// (ledger, process list).
//
// Known limits: those of package shim. A descriptor passed to a process outside the command's tree
// keeps the output open; it is read for drainTime after the end and then closed. Outside Linux
// there is no ledger.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"adze/internal/text/redact"
)

// Command's defaults, in bytes.
const (
	DefaultHead = 16 << 10
	DefaultTail = 48 << 10
)

// A Command describes a program to run and the output to keep.
type Command struct {
	Argv []string // program and arguments; a program without a slash is searched in Env's PATH
	Dir  string   // working directory, absolute
	// ResolveDir replaces Dir when resolving the program; "" means Dir.
	ResolveDir string
	// OwnDir means that Dir is outside the workspace and the command's own: it may write there,
	// whatever its cage hides.
	OwnDir bool
	Env    []string // complete environment; see Environ

	// Reach returns nil if a connection to an outside host is allowed, for a command in its cage's
	// own network. It may wait for a user. Nil allows none.
	Reach func(ctx context.Context, host string, port uint16) error

	// Local returns nil if a connection to a port or socket on this machine is allowed, such as
	// "tcp://localhost:5432" or "unix:/run/docker.sock", that the command does not serve itself.
	// Like Reach, it may wait and may be nil.
	Local func(ctx context.Context, place string) error

	// NoWalls asks for no walls, because a user allowed that.
	NoWalls bool
	// RequireWalls means that the command was allowed because of its walls: without full ones it
	// does not run.
	RequireWalls bool
	// Transaction asks the cage to collect the command's changes in its folder and apply them after
	// its end. Without it, or if the cage cannot, the command changes the folder itself.
	Transaction bool
	// KeepChanges leaves the changes unapplied after the command: Findings.Pending applies or drops
	// them. Changes to caches are dropped too. If that is impossible, the command does not run.
	KeepChanges bool
	// ReviewChanges returns doubtful changes, otherwise left out, in Findings.Pending for the user to
	// decide.
	ReviewChanges bool

	// UserWords are words of the command chosen by the user, not a model: absolute paths in them
	// are visible to the command, whatever its cage hides.
	UserWords []string

	Input []byte // standard input; if nil, it is closed and reads return EOF
	// Talk exchanges data with the command on its own goroutine; standard error is kept apart. When
	// it returns, standard input is closed and further output is dropped. It may be nil.
	Talk    func(in io.WriteCloser, out io.Reader)
	Timeout time.Duration // 0 means none
	Memory  uint64        // bytes for all processes; 0 means the walls' limit
	// outlasts means that Timeout closes Process.overdue instead of ending the command.
	outlasts bool
	Linger   bool   // after the command's exit, wait for its processes instead of ending them
	Tag      string // shown in the process list and the ledger; Start makes it unique

	// Errors gets standard error as it arrives, if it is kept apart, on the reading goroutine. It
	// may be nil.
	Errors io.Writer

	Separate   bool  // keep standard error apart, in Result.Errors; otherwise both are merged
	Head, Tail int   // bytes kept from the start and the end; both 0 means the defaults
	MaxOutput  int64 // bytes after which the command is ended; 0 means no limit

	// Mask hides secrets in the output before it is kept, counted or shown. It may be nil.
	Mask     func() *redact.Stream
	Spill    func(chunk []byte) // gets the output from its first byte on, on the reading goroutine
	MaxSpill int64              // bytes for Spill; 0 means all

	Progress      func(Progress) // live view on its own goroutine, never called after Wait returns
	ProgressEvery time.Duration  // shortest interval; 0 means DefaultProgressEvery
	ProgressTail  int            // bytes of Progress.Tail; 0 means DefaultProgressTail
}

// Reason is why a command ended.
type Reason string

// Values for Result.Killed. Lost means that the shim was killed from outside; the last two apply to
// commands in walls (see Cage).
const (
	ByItself Reason = ""
	Timeout  Reason = "timeout"
	Aborted  Reason = "abort"
	Limited  Reason = "limit"
	Lost     Reason = "lost"

	TooMuchMemory    Reason = "memory"
	TooManyProcesses Reason = "processes"
)

// Result is a started command's outcome.
type Result struct {
	Code      int            // exit code; -1 after a signal
	Signal    syscall.Signal // 0 after a normal exit
	Killed    Reason
	Duration  time.Duration // from the command's start to its exit
	Ended     int           // how many other processes were ended
	Survivors int           // how many processes could not be ended
	Output    Text
	Errors    Text   // with Command.Separate
	Sandbox   string // the walls' name, or ""
	Findings         // from the walls
}

// Err returns nil if the command exited with 0 by itself.
func (r Result) Err() error {
	switch r.Killed {
	case Timeout:
		return &Error{CodeTimeout, fmt.Errorf("ended after %s", r.Duration.Round(time.Millisecond))}
	case Aborted:
		return &Error{CodeAborted, errors.New("ended by an abort")}
	case Limited:
		return &Error{CodeLimit, fmt.Errorf("ended after %d bytes of output", r.Output.Bytes)}
	case TooMuchMemory:
		return &Error{CodeLimit, errors.New("ended because it took more memory than it may")}
	case TooManyProcesses:
		return &Error{CodeLimit, errors.New("ended because it started more processes than it may")}
	case Lost:
		return &Error{CodeIO, errors.New("its supervising process was killed")}
	}
	switch {
	case r.Signal != 0:
		return &Error{CodeIO, fmt.Errorf("ended by signal %s", SignalName(r.Signal))}
	case r.Code != 0:
		return &Error{CodeIO, fmt.Errorf("exit code %d", r.Code)}
	case r.Failed != "":
		return &Error{CodeIO, errors.New(r.Failed)}
	}
	return nil
}

// Codes of Error. They are stable and shared with tools' reports to a model.
const (
	CodeTimeout  = "timeout"
	CodeAborted  = "aborted"
	CodeLimit    = "limit"
	CodeNotFound = "not_found"
	CodeInvalid  = "invalid_arguments"
	CodeIO       = "io"
	CodeSandbox  = "sandbox"
)

// Error is this package's only error type.
type Error struct {
	Code string
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the stable code, for the model, the log and scripts.
func (e *Error) ErrorCode() string { return e.Code }

func failure(code, format string, args ...any) *Error {
	return &Error{code, fmt.Errorf(format, args...)}
}
