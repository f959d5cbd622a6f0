//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// A Stage is a view of the workspace that lasts for a turn, and until the user has decided about
// it. File tools work on it through Folder, and foreground commands use it in place of their own
// view. It is found again by its name. It is safe for concurrent use.
//
// Data flow:
//
//	Sandbox.Stage   makes or reopens the view
//	Mount           activates it for commands that start from then on
//	Unmount         returns commands to the workspace
//	Review          lists and judges the differences, as for a command's changes
//	Staged.Take     applies the chosen changes, as for a command's changes, or nothing
//	Drop, Leave     delete it, or leave it for later
type Stage struct {
	view     *view
	mounted  *atomic.Pointer[Stage] // the sandbox's current stage
	removing *sync.WaitGroup        // the sandbox's views being deleted

	mu     sync.Mutex
	holder *holder  // nil if not mounted
	folder *os.File // the workspace in the view; nil if not mounted
}

// ErrNoStage means that the workspace can have no stage.
var ErrNoStage = errors.New("there can be no view of the workspace that lasts for a turn")

// Unstaged returns why there can be no stage here, or "". The first call runs the self-test.
func (c *Cage) Unstaged() string {
	if why := c.SeparationProblem(); why != "" {
		return why
	}
	if report, err := c.Box.Level(context.Background()); err != nil || report.Technique != Namespaces {
		return "the sandbox is " + report.Technique.Name()
	}
	return ""
}

// Stage opens or makes the named stage. The name begins with "view-".
func (s *Sandbox) Stage(name string) (*Stage, error) {
	p, err := s.plan(proc.Command{Transaction: true}, Namespaces)
	if err != nil {
		return nil, err
	}
	if p.live != "" || len(p.apart) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoStage, p.live)
	}
	v, err := s.openView(&p, func(home string, roots []apply.Root) (*overlay.View, error) {
		v, err := overlay.OpenStage(home, name)
		if errors.Is(err, fs.ErrNotExist) {
			v, err = overlay.MakeStage(home, name, roots)
		}
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoStage, err)
	}
	v.stage, v.roots = true, v.Roots
	v.command = proc.Command{ReviewChanges: true}
	return &Stage{view: v, mounted: &s.stage, removing: &s.removing}, nil
}

// DropStages removes a session's stages in all workspaces, with their pending changes.
func DropStages(state, session string) (err error) {
	all, _ := filepath.Glob(filepath.Join(state, "sandbox", "views", "*", StageName(session))) // the pattern is valid
	for _, dir := range all {
		err = errors.Join(err, overlay.DropStage(filepath.Dir(dir), filepath.Base(dir)))
	}
	return err
}

// HasStage reports whether a workspace has the named stage, with a single lookup.
func HasStage(state, workspace, name string) bool {
	_, found := lookAt(filepath.Join(viewsDir(state, workspace), name))
	return found
}

// Name returns the name for reopening the stage.
func (g *Stage) Name() string { return g.view.Name() }

// Notes returns the path of a file with the stage's lifetime.
func (g *Stage) Notes() string { return filepath.Join(g.view.Dir, "notes") }

// Mount makes the view and directs commands to it.
func (g *Stage) Mount() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holder != nil {
		return nil
	}
	if err := g.view.Fresh(); err != nil {
		return err
	}
	h, err := holdViews(g.view.View, g.view.roots)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoStage, err)
	}
	folder, err := h.tree(0)
	if err != nil {
		h.close()
		return fmt.Errorf("%w: %w", ErrNoStage, err)
	}
	g.holder, g.folder = h, folder
	g.mounted.Store(g)
	return nil
}

// Folder returns the workspace as seen in the view, while it is mounted.
func (g *Stage) Folder() *os.File {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.folder
}

// Unmount returns commands that start from now on to the workspace.
func (g *Stage) Unmount() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mounted.CompareAndSwap(g, nil)
	if g.holder != nil {
		g.holder.close()
		_ = g.folder.Close()
		g.holder, g.folder = nil, nil
	}
}

// Leave releases adze's hold on a stage, which stays on disk.
func (g *Stage) Leave() error {
	g.Unmount()
	g.view.closeIndex()
	return g.view.Leave()
}

// Drop deletes the stage and its changes. The workspace is unchanged.
func (g *Stage) Drop() error {
	g.Unmount()
	g.view.closeIndex()
	err := g.view.Retire()
	g.removing.Go(func() { _ = g.view.Close() }) // the next start removes leftovers
	return err
}

// Staged lists the differences between a stage and the workspace.
type Staged struct {
	Files []proc.ChangedFile
	// Skipped holds sentences about changes that cannot be taken at all.
	Skipped []string
	// Conflicts lists the paths in Files that somebody else changed meanwhile.
	Conflicts []string

	stage   *Stage
	pending *pendingChanges
}

// Review lists the current differences. The stage must not be mounted.
func (g *Stage) Review() (*Staged, error) {
	changes, err := g.view.Changes()
	if err != nil {
		return nil, fmt.Errorf("what the stage holds cannot be read: %w", err)
	}
	if !nothing(changes) {
		g.view.judge(changes)
	}
	p := &pendingChanges{view: g.view, changes: changes, all: true}
	for _, top := range changes {
		for _, child := range top.Children {
			p.list(child, "")
		}
	}
	out := &Staged{stage: g, pending: p}
	for _, b := range g.view.leftOut(changes) {
		out.Skipped = append(out.Skipped, b.Target+": "+strings.TrimPrefix(b.Reason, "because "))
	}
	for _, part := range p.parts {
		out.Files = append(out.Files, part.display)
		if g.view.Newly(part.changes) {
			out.Conflicts = append(out.Conflicts, part.display.Path)
		}
	}
	return out, nil
}

// Empty reports whether nothing differs.
func (r *Staged) Empty() bool { return len(r.Files) == 0 && len(r.Skipped) == 0 }

// ErrStaged means that nothing was taken because others changed the files meanwhile. The stage is
// unchanged.
var ErrStaged = errors.New("nothing was taken")

// Take applies the chosen Files under a call's tag and drops the rest. On an error nothing was
// applied and the stage stays; otherwise it is gone.
func (r *Staged) Take(tag string, choices []proc.FileChoice) (proc.Findings, error) {
	v := r.stage.view
	if r.stage.Folder() != nil {
		return proc.Findings{}, fmt.Errorf("%w: commands work on the stage", ErrStaged)
	}
	var newer []string
	for i, part := range r.pending.parts {
		if i < len(choices) && choices[i].Apply && v.Newly(part.changes) {
			newer = append(newer, part.display.Path)
		}
	}
	if len(newer) > 0 {
		return proc.Findings{}, fmt.Errorf("%w: %s changed in the workspace since the turn began; leave them out, or put them back as they were", ErrStaged, strings.Join(newer, ", "))
	}
	v.command.Tag = proc.UniqueTag(tag)
	v.refused = nil
	found := r.pending.apply(choices)
	if v.refused != nil {
		return proc.Findings{}, fmt.Errorf("%w: %w", ErrStaged, v.refused)
	}
	v.closeIndex()
	return found, nil
}

// onStage makes a foreground command work on the mounted stage, if any, unless it keeps its changes
// or has a folder of its own.
func (p *plan) onStage(g *Stage, means Technique) error {
	c := p.command
	if g == nil || !c.Transaction || c.KeepChanges || c.OwnDir {
		return nil
	}
	if means != Namespaces || p.live != "" {
		return fmt.Errorf("%w: %s", ErrNoStage, p.live)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holder == nil {
		return nil
	}
	for i := range g.view.roots {
		tree, err := g.holder.tree(i)
		if err != nil {
			p.letGo()
			return err
		}
		p.trees = append(p.trees, tree)
	}
	p.staged = g
	return nil
}

// letGo closes the command's mounts from a stage.
func (p *plan) letGo() {
	for _, f := range p.trees {
		_ = f.Close()
	}
	p.trees = nil
}

// shown returns the mount with its source in the stage, if it is a folder there.
func (p *plan) shown(m namespace.Mount) namespace.Mount {
	if p.staged == nil || m.Kind != namespace.Writable {
		return p.view.mount(m)
	}
	for i, root := range p.staged.view.roots {
		if m.Source == root.Path {
			return namespace.Mount{Kind: namespace.Handed, Path: m.Path, Source: strconv.Itoa(proc.FirstFile + i)}
		}
	}
	return m
}
