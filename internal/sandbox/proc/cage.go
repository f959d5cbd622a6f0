package proc

import (
	"context"
	"os"
	"slices"
	"syscall"

	"adze/internal/sandbox/proc/shim/namespace"
)

// Cage puts commands into a sandbox.
//
//   - Enclose is asked once for each command, before anything of it runs, and may be asked by many
//     at a time.
//   - Zero Walls are none: the command runs as the user could run it.
//   - With an error the command does not run.
//   - Done of the Walls is called once, when nothing of the command is left, also when it could not
//     be started.
type Cage interface {
	Enclose(ctx context.Context, c Command) (Walls, error)
}

// Walls are what stands around one command. The shim is innermost, so it holds the command's
// processes together whatever is around it.
type Walls struct {
	Box   namespace.Box        // what the shim builds
	Argv  []string             // program and arguments that start the shim; the shim's own follow; if nil, nothing does
	Sys   *syscall.SysProcAttr // how the process is started: namespaces, maps; if nil, as usual
	Files []*os.File           // from descriptor FirstFile on
	Env   []string             // instead of the command's environment; if nil, that
	Dir   string               // where the command's own folder (Command.OwnDir) is inside; if empty, where it is outside
	PIDs  bool                 // process ids inside are not those outside
	Name  string               // told in Result.Sandbox
	Apart bool                 // the command changes a view of its folder: Done applies that
	// Born is called with the process id of the shim before it is told what to build; with an error
	// nothing runs. if nil, there is nothing to do.
	Born func(pid int) error
	Done func() Findings // told in the Result
	// Lasts is called when the command has become a job. If nil, nobody is told.
	Lasts func()
	// Serves are the ports that the command serves, as the user finds them. If nil, none are known.
	Serves func() []string
	// Failed is told why the walls could not be built, so that others are planned. If nil, nobody is
	// told.
	Failed func(error)
	// Explain says what the walls kept a command that failed from, and in sentences which places it
	// names that they hide, by what it wrote. It is nil where it is not asked. It is called before
	// Done.
	Explain func(output string) (barred []Denial, hidden []string)
}

// Findings are what a cage saw of a command.
type Findings struct {
	Told  []string // what it left that was put aside
	Notes []string // sentences about what was applied in another way than without a cage
	// Failed says why the call fails although the command did not: what it did could not be kept. If
	// empty, it could.
	Failed string
	// Denied are the things that it tried and was refused, whether it failed or not, at most
	// MaxDenied, and its changes that were not applied.
	Denied  []Denial
	Hidden  []string      // sentences about places that a command that failed names, and that its walls hide; a hint
	Carried []HostTraffic // hosts that it reached, the first one first
	Barred  []Denial      // what it wanted and no walls let through, whoever allows it: it may do better outside
	Aside   *Aside        // changes that wait for a decision; if nil, there are none
}

// Aside are changes of a command that are not applied yet.
type Aside struct {
	Files []ChangedFile
	// Apply is called exactly once, with a choice for each of Files, and says what was not applied
	// of what was chosen. Without choices it drops all of Files.
	Apply func([]FileChoice) Findings
}

// decided adds what became of changes that waited for a decision.
func (f *Findings) decided(found Findings) {
	f.Aside, f.Told, f.Notes = nil, append(f.Told, found.Told...), append(f.Notes, found.Notes...)
	for _, b := range found.Denied {
		f.Deny(b)
	}
}

// ChangedFile is one of Aside: a file, or several that are only applied together.
type ChangedFile struct {
	Path   string // relative to the workspace, where it lies there
	Change string // added, modified or removed
	// Texts says that Before and After are what the file held and holds; else only Summary tells.
	Texts         bool
	Before, After string
	// Summary is what the texts do not tell, such as a changed mode. It may be empty.
	Summary string
	// Doubt says why it is left out where nobody decides. If empty, it is not.
	Doubt string
}

// FileChoice is what becomes of a ChangedFile.
type FileChoice struct {
	Apply bool
	Text  *string // instead of After; if nil, After
}

// MaxDenied bounds what is told of one command.
const MaxDenied = 64

// Deny adds one thing that was refused, once.
func (f *Findings) Deny(b Denial) {
	if len(f.Denied) < MaxDenied && !slices.ContainsFunc(f.Denied, func(o Denial) bool { return o.Kind == b.Kind && o.What == b.What }) {
		f.Denied = append(f.Denied, b)
	}
}

// Denial is one thing that walls did not let a command do.
type Denial struct {
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
	BarredSocket  BarredKind = "socket" // of this machine, by its path or name
	BarredHost    BarredKind = "host"   // that the user or a rule did not allow
	BarredChange  BarredKind = "change" // that was made apart and not applied
)

// String is a sentence for the user and the model, which begins with "it".
func (b Denial) String() string {
	doing := map[BarredKind]string{BarredWrite: "write ", BarredConnect: "connect to ", BarredCall: "use the system call ", BarredSocket: "connect to the socket ",
		BarredHost: "reach ", BarredChange: "change "}[b.Kind]
	return "it could not " + doing + b.What + ", " + b.Why
}

// explain asks the walls about a command that failed.
func (p *Process) explain() (barred []Denial, hidden []string) {
	if p.walls.Explain == nil || p.result.Err() == nil {
		return nil, nil
	}
	return p.walls.Explain(p.written())
}

// written is what is kept of what the command wrote.
func (p *Process) written() string {
	text := p.result.Output.Head + p.result.Output.Tail
	if p.errs != nil {
		errs := p.errs.Text()
		text += errs.Head + errs.Tail
	}
	return text
}

// HostTraffic is what went to one host and came from it.
type HostTraffic struct {
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

// maxPlans is how often walls are planned for one command: what a plan has seen, another program's
// socket, may be gone or made anew when its walls are built, and then nothing has run.
const maxPlans = 3

// noWallsError is why walls could not be built.
type noWallsError string

func (u noWallsError) Error() string { return string(u) }
