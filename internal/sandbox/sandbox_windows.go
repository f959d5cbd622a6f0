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

// A Sandbox belongs to one workspace. It is safe for concurrent use. Windows has no means:
// commands run with all rights of the user, and a job object ends what they start.
type Sandbox struct {
	o         Options
	workspace folder

	mu     sync.Mutex
	report *Report
}

type folder struct{ path string }

// New makes a sandbox.
func New(o Options) *Sandbox { return &Sandbox{o: o, workspace: folder{o.Workspace}} }

// Close does nothing.
func (s *Sandbox) Close() {}

func usual() []Technique { return nil }

func lacksOfLandlock() []string { return nil }

var errNoMeans = errors.New("this system has no sandbox")

func (s *Sandbox) by(Technique, proc.Command) (proc.Confinement, error) {
	return proc.Confinement{}, errNoMeans
}

func (s *Sandbox) test(context.Context, Technique) (selfTestResult, error) {
	return selfTestResult{}, errNoMeans
}

func (s *Sandbox) standing() Level { return NoLevel }

// whyLive returns why commands work on the live tree.
func (s *Sandbox) whyLive(Technique) string { return "this system has no views of folders" }

// IsPlaceholder returns false: there are no placeholder folders.
func (s *Sandbox) IsPlaceholder(string) bool { return false }

// Recover does nothing: no command runs on a view.
func (s *Sandbox) Recover() ([]string, error) { return nil, nil }

// Forget does nothing: commands store nothing.
func Forget(_, _ string) error { return nil }

// Stage is unused: this system has no views.
type Stage struct{}

// Staged lists the differences between a stage and the workspace.
type Staged struct {
	Files              []proc.ChangedFile
	Skipped, Conflicts []string
}

// Stage returns an error.
func (s *Sandbox) Stage(string) (*Stage, error) { return nil, errors.New(s.whyLive(None)) }

// DropStages does nothing.
func DropStages(string, string) error { return nil }

// HasStage returns false.
func HasStage(_, _, _ string) bool { return false }

// Notes, Mount, Folder, Unmount, Leave, Drop and Review belong to stages of other systems.
func (*Stage) Notes() string            { return "" }
func (*Stage) Mount() error             { return errors.ErrUnsupported }
func (*Stage) Folder() *os.File         { return nil }
func (*Stage) Unmount()                 {}
func (*Stage) Leave() error             { return nil }
func (*Stage) Drop() error              { return nil }
func (*Stage) Review() (*Staged, error) { return nil, errors.ErrUnsupported }

// Empty reports whether nothing differs.
func (*Staged) Empty() bool { return true }

// Take does nothing.
func (*Staged) Take(string, []proc.FileChoice) (proc.Findings, error) {
	return proc.Findings{}, errors.ErrUnsupported
}

// Unstaged returns why there can be no stage here.
func (*Cage) Unstaged() string { return "this system has no views of folders" }

func machineKey() string { return "windows" }

// isWithin reports whether path is dir or below it; both are clean and absolute.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, `..`+string(os.PathSeparator))
}

// DatabaseInUse returns "": there are no views on this system.
func (*Sandbox) DatabaseInUse([]string, string) string { return "" }
