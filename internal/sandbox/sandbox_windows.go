package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/sandbox/proc"
)

// Sandbox is one workspace's. Safe for concurrent use. On Windows there is none: to keep a command
// from the network takes the rights of an administrator there, and a sandbox that leaves the
// network open is none.
type Sandbox struct {
	o         Options
	workspace folder

	mu     sync.Mutex
	report *Report
}

// folder is one by its path.
type folder struct{ path string }

// New makes a sandbox.
func New(o Options) *Sandbox { return &Sandbox{o: o, workspace: folder{o.Workspace}} }

// Close has nothing to remove.
func (s *Sandbox) Close() {}

// usual are the means of this system.
func usual() []Means { return nil }

func lacksOfLandlock() []string { return nil }

func (s *Sandbox) test(context.Context, Means) (found, error) {
	return found{}, errors.New("there is none for this system")
}

func (s *Sandbox) by(m Means, _ proc.Command) (proc.Walls, error) {
	return proc.Walls{}, errors.New("this system has no sandbox of the kind " + string(m))
}

// standing is the level of the next command.
func (s *Sandbox) standing() Level { return NoLevel }

// whyLive says why commands work on the live tree.
func (s *Sandbox) whyLive(Means) string { return "this system has no views of folders" }

// Stands reports a folder that stands only as long as commands run: there are none.
func (s *Sandbox) Stands(string) bool { return false }

// MemoryBound says what bounds the memory of commands.
func (s *Sandbox) MemoryBound() string { return "" }

// Recover has nothing to finish: no command runs on a view.
func (s *Sandbox) Recover() ([]string, error) { return nil, nil }

// Forget removes what is kept for commands in a workspace that is no more: nothing is.
func Forget(string, string) error { return nil }

// Stage is of no workspace: there are no views of folders.
type Stage struct{}

// Staged is what differs between a stage and the workspace.
type Staged struct {
	Files           []proc.ChangedFile
	Left, Conflicts []string
}

// Stage fails.
func (s *Sandbox) Stage(string) (*Stage, error) { return nil, errors.New(s.whyLive(None)) }

// HasStage reports none.
func HasStage(_, _, _ string) bool { return false }

// Notes, Mount, Folder, Unmount, Leave, Drop and Review belong to stages of other systems.
func (*Stage) Notes() string            { return "" }
func (*Stage) Mount() error             { return errors.ErrUnsupported }
func (*Stage) Folder() *os.File         { return nil }
func (*Stage) Unmount()                 {}
func (*Stage) Leave() error             { return nil }
func (*Stage) Drop() error              { return nil }
func (*Stage) Review() (*Staged, error) { return nil, errors.ErrUnsupported }

// Empty reports that nothing differs.
func (*Staged) Empty() bool { return true }

// Take applies nothing.
func (*Staged) Take(string, []proc.FileChoice) (proc.Findings, error) {
	return proc.Findings{}, errors.ErrUnsupported
}

// Unstaged says why there can be no stage here.
func (*Cage) Unstaged() string { return "this system has no views of folders" }

// machineKey is the same for every run: the answer does not change.
func machineKey() string { return "windows" }

// within reports whether path is dir or below it; both are clean and absolute.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, `..`+string(os.PathSeparator))
}
