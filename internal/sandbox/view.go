//go:build unix

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// view is one command's private view of the workspace, and of its repository if that lies
// elsewhere. After the command each change is judged (judge.go) and applied, before the result is
// reported.
type view struct {
	*overlay.View
	sandbox   *Sandbox
	command   proc.Command
	workspace string
	roots     []apply.Root // the workspace, then the grants
	index     *os.File     // git's index before the command, or nil
	nested    []string     // repositories in the workspace
	hidden    []string     // absolute paths hidden by rules
	stage     bool         // it outlives commands; see Stage
	refused   error        // why none of a stage's changes were applied
}

// ErrNoView means that a command's changes cannot be kept apart.
var ErrNoView = errors.New("there can be no private view of the workspace for it")

func viewsDir(state, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(state, "sandbox", "views", hex.EncodeToString(sum[:8]))
}

// openView makes a command's view, or returns nil if the command changes nothing apart.
func (s *Sandbox) openView(p *plan, open func(home string, roots []apply.Root) (*overlay.View, error)) (v *view, err error) {
	if len(p.apart) == 0 || p.staged != nil {
		return nil, nil
	}
	var roots []apply.Root
	for _, path := range p.apart {
		f := pin(path)
		if path == p.workspace.path {
			f = p.workspace
		}
		if f.err != nil {
			return nil, f.err
		}
		roots = append(roots, apply.Root{Path: path, Dev: f.dev, Ino: f.ino})
	}
	for _, hidden := range p.hidden {
		for i := range roots {
			if rel, err := filepath.Rel(roots[i].Path, hidden); err == nil && filepath.IsLocal(rel) && rel != "." {
				roots[i].Hidden = append(roots[i].Hidden, rel)
				break
			}
		}
	}
	if p.command.KeepChanges {
		if roots, err = p.discarded(roots); err != nil {
			return nil, err
		}
	}
	made, err := open(viewsDir(s.o.State, p.workspace.path), roots)
	if err != nil {
		return nil, fmt.Errorf("what it changes cannot be kept apart: %w", err)
	}
	out := &view{View: made, sandbox: s, command: p.command, workspace: p.workspace.path, roots: roots, nested: p.nested}
	at := filepath.Join(p.workspace.path, ".git")
	if dir, ok := pointer(at, "gitdir: ", p.workspace.path); ok {
		at = dir
	}
	out.index, _ = os.Open(filepath.Join(at, "index")) // it may be missing
	out.hidden = p.hidden
	return out, nil
}

// giveUp closes an unused view.
func (v *view) giveUp() {
	v.closeIndex()
	_ = v.Close()
}

// discarded adds all other folders that the command may write, such as its caches. Changes there
// are not kept.
func (p *plan) discarded(roots []apply.Root) ([]apply.Root, error) {
	for _, m := range p.mounts() {
		if m.Kind != namespace.Writable || slices.ContainsFunc(roots, func(r apply.Root) bool { return r.Path == m.Source }) {
			continue
		}
		if err := os.MkdirAll(m.Source, 0o700); err != nil {
			return nil, err
		}
		f := pin(m.Source)
		if f.err != nil {
			return nil, f.err
		}
		roots = append(roots, apply.Root{Path: m.Source, Dev: f.dev, Ino: f.ino, Discarded: true})
	}
	return roots, nil
}

// mount returns the mount with its source in the view, if it is a folder there.
func (v *view) mount(m namespace.Mount) namespace.Mount {
	if v == nil || m.Kind != namespace.Writable {
		return m
	}
	for i, root := range v.roots {
		if m.Source == root.Path {
			m.Kind, m.Upper, m.Dev, m.Ino = namespace.View, v.Folder(i), root.Dev, root.Ino
		}
	}
	return m
}

// failed handles a failed start. If the kernel cannot make a view, nothing has run, and the command
// is planned again. After other failures the sandbox may no longer be the tested one, so the
// self-test runs again.
func (s *Sandbox) failed(err error) {
	if strings.Contains(err.Error(), namespace.NoView) {
		s.viewFails.Store(true)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = nil
	forget(s.o.State)
}

// end applies a command's changes and reports those left out, or returns them for the user to
// decide.
func (v *view) end() (found proc.Findings) {
	defer v.closeIndex()
	changes, err := v.Changes()
	if err != nil {
		return proc.Findings{Messages: []string{fmt.Sprintf("all that it changed, because that cannot be read: %v; it stays in %s", err, v.Folder(0))}}
	}
	if !nothing(changes) {
		v.judge(changes)
		v.leaveGone(changes)
	}
	if found.Pending = v.aside(changes); found.Pending == nil {
		found = v.finish(changes)
	}
	return found
}

// leaveGone leaves out files that the command replaced and that somebody else removed or renamed
// meanwhile. The view shows them as new, but git's index lists them.
func (v *view) leaveGone(changes []*overlay.Change) {
	var known map[string]bool
	for _, top := range changes[:min(1, len(changes))] {
		top.Walk(func(c *overlay.Change) bool {
			if c.SkipReason != "" {
				return false
			}
			if c.Kind == apply.Merged || c.Lower.Exists() || !v.Newer(c.Parent.Lower) {
				return true
			}
			if known == nil {
				known = v.indexed()
			}
			if known[c.Path] {
				c.SkipReason = apply.WhyGone
			}
			return c.Kind != apply.New
		})
	}
}

// indexed returns the paths in git's index before the command.
func (v *view) indexed() map[string]bool {
	out := map[string]bool{}
	entries, _ := v.before() // without entries all count as new
	for _, entry := range entries {
		out[pathOf(entry)] = true
	}
	return out
}

func (v *view) closeIndex() {
	if v.index != nil {
		_ = v.index.Close()
		v.index = nil
	}
}

// finish applies judged changes.
func (v *view) finish(changes []*overlay.Change) (found proc.Findings) {
	for _, b := range v.leftOut(changes) {
		found.Deny(b)
	}
	var err error
	var told []string
	apply := func() []string {
		var out apply.Outcome
		if out, err = v.Apply(changes); err == nil {
			err = v.Retire()
		}
		if out.Full != nil {
			found.Failed = "there was no room for what it changed: " + out.Full.Error()
		}
		if err == nil {
			v.sandbox.removing.Go(func() { _ = v.Close() }) // the next start removes leftovers
		}
		told = tell(out)
		for _, n := range out.Notes[:min(len(out.Notes), mostTold)] {
			found.Notes = append(found.Notes, legible(n.Path)+": "+n.What)
		}
		if more := len(out.Notes) - mostTold; more > 0 {
			found.Notes = append(found.Notes, fmt.Sprintf("%d more files are not as they would be without the sandbox", more))
		}
		return out.Applied
	}
	if around := v.sandbox.o.WrapApply; around != nil {
		refused := around(v.command.Tag, v.toApply(changes), apply)
		if v.stage && refused != nil {
			v.refused = refused
			return found
		}
		if refused != nil {
			for _, top := range changes {
				leave(top, refused.Error())
			}
			apply()
		}
	} else {
		apply()
	}
	if err != nil {
		told = append(told, fmt.Sprintf("a part of what it changed: %v; the rest stays in %s and is applied when adze starts again", err, v.Folder(0)))
	}
	found.Messages = told
	return found
}

// leftOut lists the changes left out, up to a limit.
func (v *view) leftOut(changes []*overlay.Change) (out []proc.Denial) {
	for _, top := range changes {
		top.Walk(func(c *overlay.Change) bool {
			if c.SkipReason != "" && len(out) < proc.MaxDenied {
				out = append(out, proc.Denial{Kind: proc.BarredChange, Target: legibleIn(v.workspace, v.Real(c)), Reason: "because " + c.SkipReason})
			}
			return c.SkipReason == ""
		})
	}
	return out
}

// toApply returns the absolute paths of the changes to apply. A folder that comes or goes stands
// for everything in it.
func (v *view) toApply(changes []*overlay.Change) (paths []string) {
	for _, top := range changes {
		top.Walk(func(c *overlay.Change) bool {
			switch {
			case c.SkipReason != "" || c.Dropped:
				return false
			case c.Kind != apply.Merged:
				paths = append(paths, v.Real(c))
				return false
			case c.Path != "" && c.Upper.Mode != c.Lower.Mode:
				paths = append(paths, v.Real(c))
			}
			return true
		})
	}
	return paths
}

func nothing(changes []*overlay.Change) bool {
	for _, top := range changes {
		if len(top.Children) > 0 {
			return false
		}
	}
	return true
}

// Recover finishes applying the changes of a killed adze and reports them.
func (s *Sandbox) Recover() (told []string, err error) {
	found, err := overlay.Recover(viewsDir(s.o.State, s.workspace.path))
	for _, out := range found {
		if n := len(out.Applied); n > 0 {
			told = append(told, fmt.Sprintf("the changes of a command were being applied when adze was killed; that is finished now (%d paths)", n))
		}
		for _, text := range tell(out) {
			told = append(told, "not applied of a command's changes: "+text)
		}
		for _, n := range out.Notes {
			told = append(told, legible(n.Path)+": "+n.What)
		}
	}
	planted, leftErr := left(s.o.State, s.workspace.path)
	return append(told, planted...), errors.Join(err, leftErr)
}

// mostTold limits the messages about one command.
const mostTold = 8

// tell describes the changes left out, one text per reason.
func tell(out apply.Outcome) (told []string) {
	var order []string
	paths, kept := map[string][]string{}, map[string]string{}
	for _, l := range out.Unapplied {
		if _, ok := paths[l.Reason]; !ok {
			order = append(order, l.Reason)
		}
		paths[l.Reason] = append(paths[l.Reason], legible(l.Path))
		if l.CommandCopy != "" {
			kept[l.Reason] = l.CommandCopy
		}
	}
	for _, why := range order {
		names := paths[why]
		text := strings.Join(names[:min(len(names), mostTold)], ", ")
		if more := len(names) - mostTold; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += " (" + why + ")"
		if at := kept[why]; at != "" {
			text += "; the command's version is kept in " + filepath.Dir(at)
		}
		told = append(told, text)
	}
	return told
}

// forget makes the next Level call run the self-test again.
func forget(state string) { _ = os.Remove(levelFile(state)) }
