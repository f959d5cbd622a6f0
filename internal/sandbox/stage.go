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

// Stage is a view of the workspace that lasts for a turn, and until somebody has decided about it.
// File tools work on it through Folder, and each command that is waited for in place of a view of
// its own. It is found again by its name. It is safe for concurrent use.
//
// Data flow:
//
//	Sandbox.Stage   makes the view, or goes on with one
//	Mount           has it seen; commands that begin from then on work on it
//	Unmount         has the workspace itself seen again
//	Review          lists what differs, judged as the changes of a command are
//	Staged.Take     applies what is wanted of that, as the changes of a command are, or nothing
//	Drop, Leave     end it, or leave it for later
type Stage struct {
	view     *view
	mounted  *atomic.Pointer[Stage] // of the sandbox: what commands work on
	removing *sync.WaitGroup        // of the sandbox: views that are over

	mu     sync.Mutex
	holder *holder  // if nil, it is not mounted
	folder *os.File // of the workspace in the view, likewise
}

// ErrNoStage says why there can be no stage.
var ErrNoStage = errors.New("there can be no view of the workspace that lasts for a turn")

// Unstaged says why there can be no stage here. It is empty where there can. The first question
// tests the sandbox.
func (c *Cage) Unstaged() string {
	if why := c.Aside(); why != "" {
		return why
	}
	if report, err := c.Box.Level(context.Background()); err != nil || report.Means != Namespaces {
		return "the sandbox is " + report.Means.Name()
	}
	return ""
}

// Stage opens the stage of a name, which begins with "view-", or makes it.
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

// DropStages removes the stages of a session, in whichever workspace it was, with the changes that
// wait in them.
func DropStages(state, session string) (err error) {
	all, _ := filepath.Glob(filepath.Join(state, "sandbox", "views", "*", StageName(session))) // the pattern is sound
	for _, dir := range all {
		err = errors.Join(err, overlay.DropStage(filepath.Dir(dir), filepath.Base(dir)))
	}
	return err
}

// HasStage reports that a workspace has a stage of a name, at the price of one look.
func HasStage(state, workspace, name string) bool {
	_, found := lookAt(filepath.Join(viewsDir(state, workspace), name))
	return found
}

// Name is the one by which Resume finds it.
func (g *Stage) Name() string { return g.view.Name() }

// Notes is a file that is there as long as the stage.
func (g *Stage) Notes() string { return filepath.Join(g.view.Dir, "notes") }

// Mount makes the view and has commands work on it.
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

// Folder is the workspace as the view shows it, while it is mounted.
func (g *Stage) Folder() *os.File {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.folder
}

// Unmount has commands that begin from now on work as ever.
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

// Leave ends what adze has of a stage, which stays.
func (g *Stage) Leave() error {
	g.Unmount()
	g.view.closeIndex()
	return g.view.Leave()
}

// Drop ends the stage with all that it holds. The workspace is as it was.
func (g *Stage) Drop() error {
	g.Unmount()
	g.view.closeIndex()
	err := g.view.Retire()
	g.removing.Go(func() { _ = g.view.Close() }) // the next start removes the rest
	return err
}

// Staged is what differs between a stage and the workspace.
type Staged struct {
	Files []proc.ChangedFile
	// Left are sentences about what cannot be taken, whoever wants it.
	Left []string
	// Conflicts are the paths of Files that somebody else has changed meanwhile.
	Conflicts []string

	stage   *Stage
	pending *pendingChanges
}

// Review lists what differs now. The stage must not be mounted.
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
		out.Left = append(out.Left, b.What+": "+strings.TrimPrefix(b.Why, "because "))
	}
	for _, part := range p.parts {
		out.Files = append(out.Files, part.shown)
		if len(g.view.Newly(part.changes)) > 0 {
			out.Conflicts = append(out.Conflicts, part.shown.Path)
		}
	}
	return out, nil
}

// Empty reports that nothing differs.
func (r *Staged) Empty() bool { return len(r.Files) == 0 && len(r.Left) == 0 }

// ErrStaged says that nothing was taken because of what others changed meanwhile. The stage is as
// it was.
var ErrStaged = errors.New("nothing was taken")

// Take applies what is chosen of Files, in the name of a call, and drops the rest. With an error
// nothing was applied and the stage stays; else it is over.
func (r *Staged) Take(tag string, choices []proc.FileChoice) (proc.Findings, error) {
	v := r.stage.view
	if r.stage.Folder() != nil {
		return proc.Findings{}, fmt.Errorf("%w: commands work on the stage", ErrStaged)
	}
	var newer []string
	for i, part := range r.pending.parts {
		if i < len(choices) && choices[i].Apply && len(v.Newly(part.changes)) > 0 {
			newer = append(newer, part.shown.Path)
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

// onStage has a command work on the stage, where there is one and it is not to run otherwise.
func (p *plan) onStage(g *Stage, means Means) error {
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

// letGo closes the mounts of a stage that a command has got.
func (p *plan) letGo() {
	for _, f := range p.trees {
		_ = f.Close()
	}
	p.trees = nil
}

// shown is how the shim makes what a plan mounts, where that is a folder of the stage.
func (p *plan) shown(m namespace.Mount) namespace.Mount {
	if p.staged == nil || m.Kind != namespace.Writable {
		return p.view.mount(m)
	}
	for i, root := range p.staged.view.roots {
		if m.From == root.Path {
			return namespace.Mount{Kind: namespace.Handed, Path: m.Path, From: strconv.Itoa(proc.FirstFile + i)}
		}
	}
	return m
}
