// Package proc runs commands so that nothing of them outlives its purpose.
//
// Each command runs below a shim (see package shim): its own session, no controlling terminal,
// standard input closed. It ends when it exits, when its time is over, when the context is done,
// when it writes more than it may, or when adze dies, and then everything below it ends too:
// background jobs, setsid, double forks. What it writes is counted exactly and kept in bounded
// memory.
//
// The one rule: the caller's memory and time are bounded whatever the command does.
//
// Start reading at Command and Result, then Supervisor.Start and Process. Jobs keeps commands
// running in the background, Ledger finds what a crash
// left, Environ makes a command's environment.
//
// A program that links this package needs no call at its start: package shim takes over by itself
// when the program is started as a shim. There are more than a dozen files because what a system
// must offer (ledger, process list) stands once for Linux and once for the others.
//
// Known limits: those of package shim. A descriptor that the command hands to a process outside its
// tree keeps the output open; it is read for drainTime after the end and then closed. Outside Linux
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

// Defaults of Command, in bytes.
const (
	DefaultHead = 16 << 10
	DefaultTail = 48 << 10
)

// Command is what to run and how much of it to keep.
type Command struct {
	Argv []string // program and arguments; a program without a slash is looked up in Env's PATH
	Dir  string   // working directory, absolute
	// ResolveDir is where Dir is looked for before the command starts; if empty, where it is.
	ResolveDir string
	// OwnDir says that Dir is no part of the workspace and the command's alone: it may write there,
	// whatever its cage hides.
	OwnDir bool
	Env    []string // whole environment; see Environ

	// Reach allows a connection to a host outside, or says why not, for a command whose cage has a
	// network of its own. It may wait for a user. If nil, none is allowed.
	Reach func(ctx context.Context, host string, port uint16) error

	// Local allows a connection to a port or socket of this machine that the command does not serve
	// itself, "tcp://localhost:5432" or "unix:/run/docker.sock", or says why not, likewise.
	Local func(ctx context.Context, place string) error

	// NoWalls asks the cage for no walls, because a user allowed the command without any.
	NoWalls bool
	// RequireWalls says that it was allowed because walls hold it: without full ones it does not run.
	RequireWalls bool
	// Transaction has the cage collect what the command changes in its folder and apply it when the
	// command has ended, where the cage can. Without it, and where it cannot, the command changes
	// the folder itself.
	Transaction bool
	// KeepChanges has the changes kept apart when the command has ended: Findings.Aside applies or
	// drops them. Caches are put back too. A command that cannot run so does not run.
	KeepChanges bool
	// ReviewChanges says that the user can be asked about changes that are left out otherwise: they
	// are in Findings.Aside.
	ReviewChanges bool

	// UserWords are words of the command that the user chose, not a model: programs and files that
	// they name as absolute paths are there for the command, whatever its cage hides.
	UserWords []string

	Input []byte // standard input; if nil, closed, reads see the end at once
	// Talk speaks with the command, on a goroutine of its own: it gets both ends, and standard error
	// is kept apart. When it returns, standard input is closed, and what the command still writes is
	// dropped. If nil, nobody speaks.
	Talk    func(in io.WriteCloser, out io.Reader)
	Timeout time.Duration // if 0, none
	Memory  uint64        // bytes that it and all below it may hold; if 0, what its walls allow
	// outlasts says that Process.overdue is closed when Timeout is over, instead of ending it.
	outlasts bool
	Linger   bool   // after the command has exited, wait for what it started instead of ending it
	Tag      string // shown in the process list and the ledger; made unique by Start

	// Errors gets standard error as it comes, where it is kept apart, on the goroutine that reads it.
	// If nil, nobody does.
	Errors io.Writer

	Separate   bool  // keep standard error apart, in Result.Errors; else both in order as written
	Head, Tail int   // bytes kept of the start and of the end; both 0: the defaults
	MaxOutput  int64 // bytes written before the command is ended; if 0, no limit

	// Mask hides secrets in the output before any of it is kept, counted or shown; if nil, none does.
	Mask     func() *redact.Stream
	Spill    func(chunk []byte) // gets the output from its first byte on, on the reading goroutine
	MaxSpill int64              // bytes that Spill gets at most; if 0, all

	Progress      func(Progress) // live view, on a goroutine of its own, never after Wait returns
	ProgressEvery time.Duration  // shortest time between two calls; if 0, DefaultProgressEvery
	ProgressTail  int            // bytes of Progress.Tail; if 0, DefaultProgressTail
}

// Reason says who ended a command.
type Reason string

// The reasons of Result.Killed. Lost means that the command's shim was killed from outside; the
// last two are of a command with walls around it (see Cage).
const (
	ByItself Reason = ""
	Timeout  Reason = "timeout"
	Aborted  Reason = "abort"
	Limited  Reason = "limit"
	Lost     Reason = "lost"

	TooMuchMemory    Reason = "memory"
	TooManyProcesses Reason = "processes"
)

// Result is what came of a command that was started.
type Result struct {
	Code      int            // exit code; -1 when a signal ended the command
	Signal    syscall.Signal // 0 when the command exited
	Killed    Reason
	Duration  time.Duration // from the start to the exit of the command
	Ended     int           // processes it left behind, or had below it when killed, that were ended
	Survivors int           // processes that could not be ended
	Output    Text
	Errors    Text   // with Command.Separate
	Sandbox   string // the name of the walls around it; if empty, there were none
	Findings         // of the walls, when it had ended
}

// Err is nil when the command exited with 0 by itself.
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

// Stable codes of Error, the same that tools report to a model.
const (
	CodeTimeout  = "timeout"
	CodeAborted  = "aborted"
	CodeLimit    = "limit"
	CodeNotFound = "not_found"
	CodeInvalid  = "invalid_arguments"
	CodeIO       = "io"
	CodeSandbox  = "sandbox"
)

// Error is every error of this package: a stable code and what happened.
type Error struct {
	Code string
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode is the stable code, for the model, the log and scripts.
func (e *Error) ErrorCode() string { return e.Code }

func failure(code, format string, args ...any) *Error {
	return &Error{code, fmt.Errorf(format, args...)}
}
