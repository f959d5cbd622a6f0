package proc

import (
	"context"
	"os"
	"syscall"

	"adze/internal/proc/shim"
	"adze/internal/proc/shim/box"
	"adze/internal/proc/shim/witness"
)

// Cage puts commands into a sandbox.
//
//   - Enclose is asked once for each command, before anything of it runs, and may be asked by many at a time.
//   - Zero Walls are none: the command runs as the person could run it.
//   - With an error the command does not run.
//   - Done of the Walls is called once, when nothing of the command is left, also when it could not be started.
type Cage interface {
	Enclose(ctx context.Context, c Command) (Walls, error)
}

// Walls are what stands around one command. The shim is innermost, so it holds the command's processes together
// whatever is around it.
type Walls struct {
	Box   box.Box              // what the shim builds
	Argv  []string             // program and arguments that start the shim; the shim's own follow; nil: nothing does
	Sys   *syscall.SysProcAttr // how the process is started: namespaces, maps; nil: as usual
	Files []*os.File           // from descriptor FirstFile on
	Env   []string             // instead of the command's environment; nil: that
	PIDs  bool                 // process ids inside are not those outside
	Name  string               // told in Result.Sandbox
	// Born is called with the process id of the shim before it is told what to build; with an error nothing runs. nil: there
	// is nothing to do.
	Born func(pid int) error
	Done func() Findings // told in the Result
	// Weigh says which of the facts that the shim saw keep a command that failed from what it could have done without
	// the walls; nil: none do. It is called before Done.
	Weigh func([]witness.Fact) []Barred
}

// Findings are what a cage saw of a command.
type Findings struct {
	Told    []string  // what it left that was put aside
	Refused []string  // hosts that it asked for and was not let to
	Carried []Carried // hosts that it reached, the first one first
	Barred  []Barred  // what it wanted and no walls let through, whoever allows it: it may do better outside
}

// Barred is one thing that walls did not let a command do.
type Barred struct {
	Kind BarredKind
	What string // the path, address, socket or call
	Why  string // the end of a sentence: why not
}

// BarredKind tells them apart.
type BarredKind string

// The kinds.
const (
	BarredWrite   BarredKind = "write"
	BarredConnect BarredKind = "connect"
	BarredCall    BarredKind = "call"
)

// String is a sentence for the person and the model, which begins with "it".
func (b Barred) String() string {
	doing := map[BarredKind]string{BarredWrite: "write ", BarredConnect: "connect to ", BarredCall: "use the system call "}[b.Kind]
	return "it could not " + doing + b.What + ", " + b.Why
}

func (p *Process) weigh() []Barred {
	if p.walls.Weigh == nil || len(p.facts) == 0 || p.result.Err() == nil {
		return nil
	}
	return p.walls.Weigh(p.facts)
}

// Carried is what went to one host and came from it.
type Carried struct {
	Host           string // with its port
	Connections    int
	Sent, Received int64 // bytes
}

// FirstFile is the descriptor of the first of Walls.Files: those below are the shim's own.
const FirstFile = 5

func enclose(ctx context.Context, cage Cage, c Command) (Walls, error) {
	if cage == nil {
		return Walls{}, nil
	}
	walls, err := cage.Enclose(ctx, c)
	if err != nil {
		return Walls{}, &Error{CodeSandbox, err}
	}
	return walls, nil
}

// none reports that nothing is around the command.
func (w Walls) none() bool {
	return w.Box.Empty() && w.Argv == nil && w.Sys == nil && len(w.Files) == 0 && w.Born == nil
}

// starts is the program that is started, and its arguments.
func (w Walls) starts(own []string) (program string, argv []string) {
	if len(w.Argv) == 0 {
		return selfPath(), own
	}
	return w.Argv[0], append(append([]string{}, w.Argv...), own[1:]...)
}

func (w Walls) attributes() *syscall.SysProcAttr {
	sys := syscall.SysProcAttr{}
	if w.Sys != nil {
		sys = *w.Sys
	}
	sys.Setsid = true
	return &sys
}

func explain(e shim.Event) string {
	if e.Errno == 0 {
		return e.Step
	}
	return e.Step + ": " + e.Errno.Error()
}

// maxPlans is how often walls are planned for one command: what a plan has seen, another program's socket, may be gone or made
// anew when its walls are built, and then nothing has run.
const maxPlans = 3

// unboxed is why walls could not be built.
type unboxed string

func (u unboxed) Error() string { return string(u) }
