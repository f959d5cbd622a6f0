package proc

import (
	"context"
	"os"
	"slices"
	"syscall"

	"adze/internal/sandbox/proc/shim/namespace"
)

// A Cage puts commands into a sandbox.
//
//   - Enclose is called once for each command before it starts, possibly concurrently.
//   - Zero Confinement mean no sandbox.
//   - If Enclose returns an error, the command does not run.
//   - Confinement.Done is called once, after the end of the command and its processes, or a failed
//     start.
type Cage interface {
	Enclose(ctx context.Context, c Command) (Confinement, error)
}

// Confinement describe one command's sandbox. The shim is innermost, so it always supervises the
// command's processes.
type Confinement struct {
	Box      namespace.Box        // built by the shim
	Argv     []string             // launcher for the shim, whose arguments follow; nil means none
	Sys      *syscall.SysProcAttr // namespaces and id maps; nil means none
	Files    []*os.File           // from descriptor FirstFile on
	Env      []string             // in place of the command's environment; nil means unchanged
	Dir      string               // path inside of Command.OwnDir; "" means the path outside
	PIDs     bool                 // process ids inside differ from those outside
	Name     string               // for Result.Sandbox
	UsesView bool                 // the command changes a view, and Done applies the changes
	// OnStart is called with the shim's process id before the shim gets its spec. If it returns an
	// error, nothing runs. It may be nil.
	OnStart func(pid int) error
	Done    func() Findings // for the Result
	// OnJob is called when the command has become a job. It may be nil.
	OnJob func()
	// Serves returns the command's served ports, as the user reaches them. It may be nil.
	Serves func() []string
	// Failed is called with the reason if the walls could not be built, so that Enclose can plan
	// others. It may be nil.
	Failed func(error)
	// Explain returns a failed command's refusals by the walls, and sentences about hidden places
	// that it names, found in its output. It may be nil. It is called before Done.
	Explain func(output string) (barred []Denial, hidden []string)
}

// Findings are a cage's observations about a command.
type Findings struct {
	Messages []string // sentences about files put aside or left out
	Notes    []string // sentences about changes applied differently than without a cage
	// Failed is the reason why the call fails although the command did not, because its changes
	// were lost, or "".
	Failed string
	// Denied lists refused actions, whether the command failed or not, and changes not applied, at
	// most MaxDenied.
	Denied  []Denial
	Hidden  []string        // sentences about hidden places named by a failed command; a hint
	Traffic []HostTraffic   // reached hosts, by first connection
	Refused []Denial        // refused actions that no approval allows inside; the command may work outside
	Pending *PendingChanges // changes waiting for a decision, or nil
}

// PendingChanges holds a command's changes that are not applied yet.
type PendingChanges struct {
	Files []ChangedFile
	// Apply is called exactly once, with a choice for each of Files, and returns the chosen changes
	// that failed. Without choices it drops all of Files.
	Apply func([]FileChoice) Findings
}

// decided adds Aside.Apply's result.
func (f *Findings) decided(found Findings) {
	f.Pending, f.Messages, f.Notes = nil, append(f.Messages, found.Messages...), append(f.Notes, found.Notes...)
	for _, b := range found.Denied {
		f.Deny(b)
	}
}

// A ChangedFile is one decision: a file, or several that belong together.
type ChangedFile struct {
	Path   string // relative if in the workspace
	Change string // added, modified or removed
	// Texts means that Before and After hold the content; otherwise only Summary is set.
	Texts         bool
	Before, After string
	// Summary describes other differences, such as a changed mode, or is "".
	Summary string
	// AskReason is the reason for leaving the change out if nobody decides, or "".
	AskReason string
}

// FileChoice is the decision on a ChangedFile.
type FileChoice struct {
	Apply bool
	Text  *string // replaces After, if not nil
}

// MaxDenied limits the denials for one command.
const MaxDenied = 64

// Deny adds a denial unless it is known.
func (f *Findings) Deny(b Denial) {
	if len(f.Denied) < MaxDenied && !slices.ContainsFunc(f.Denied, func(o Denial) bool { return o.Kind == b.Kind && o.Target == b.Target }) {
		f.Denied = append(f.Denied, b)
	}
}

// A Denial is one action refused by the walls.
type Denial struct {
	Kind   BarredKind
	Target string // the path, address, socket or call
	Reason string // reason, as the end of a sentence
}

// BarredKind is a denied action's kind.
type BarredKind string

// Denied actions.
const (
	BarredWrite   BarredKind = "write"
	BarredConnect BarredKind = "connect"
	BarredCall    BarredKind = "call"
	BarredSocket  BarredKind = "socket" // on this machine, by path or name
	BarredHost    BarredKind = "host"   // not allowed by the user or a rule
	BarredChange  BarredKind = "change" // made in a view and not applied
)

// String returns a clause for the user and the model, which begins with "it".
func (b Denial) String() string {
	doing := map[BarredKind]string{BarredWrite: "write ", BarredConnect: "connect to ", BarredCall: "use the system call ", BarredSocket: "connect to the socket ",
		BarredHost: "reach ", BarredChange: "change "}[b.Kind]
	return "it could not " + doing + b.Target + ", " + b.Reason
}

// explain calls Confinement.Explain for a failed command.
func (p *Process) explain() (barred []Denial, hidden []string) {
	if p.confinement.Explain == nil || p.result.Err() == nil {
		return nil, nil
	}
	return p.confinement.Explain(p.written())
}

// written returns the stored output.
func (p *Process) written() string {
	text := p.result.Output.Head + p.result.Output.Tail
	if p.errs != nil {
		errs := p.errs.Text()
		text += errs.Head + errs.Tail
	}
	return text
}

// HostTraffic counts the bytes exchanged with one host.
type HostTraffic struct {
	Host           string // with its port
	Connections    int
	Sent, Received int64 // bytes
}

// FirstFile is the descriptor of the first of Confinement.Files; the shim uses those below.
const FirstFile = 5

func enclose(ctx context.Context, cage Cage, c Command) (Confinement, error) {
	if cage == nil {
		return Confinement{}, nil
	}
	walls, err := cage.Enclose(ctx, c)
	if err != nil {
		return Confinement{}, &Error{CodeSandbox, err}
	}
	return walls, nil
}

// maxPlans limits the plans for one command. An entry in a plan, such as another program's socket,
// may be gone or replaced when the walls are built; then nothing has run.
const maxPlans = 3

// noWallsError means that walls could not be built.
type noWallsError string

func (u noWallsError) Error() string { return string(u) }
