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

// machineKey is the same for every run: the answer does not change.
func machineKey() string { return "windows" }

// within reports whether path is dir or below it; both are clean and absolute.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, `..`+string(os.PathSeparator))
}
