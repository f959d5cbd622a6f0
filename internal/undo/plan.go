package undo

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	pathpkg "path"
	"slices"
	"strings"
)

// Window is a stretch of time in which what changed is undone: one call, one turn, or an undo
// before.
type Window struct{ Before, After Mark }

// Step puts one path back: from what is expected there to what was.
type Step struct {
	Path string
	From Entry
	To   Entry
}

// Refusal is a path that is left as it is.
type Refusal struct {
	Path   string
	Reason string
}

// Plan is what Apply will do. It says all that there is to show before it is done.
type Plan struct {
	ID      string
	Present Mark // the state it was made for
	Steps   []Step
	Refused []Refusal
	Git     int // changes to git's own state that were not asked for
}

// Reasons for which a path is refused.
const (
	refusedChanged  = "it changed since, not by what is undone"
	refusedBetween  = "it was changed in between, not by what is undone"
	refusedUnknown  = "undo does not cover it"
	refusedContent  = "its content is no longer kept"
	refusedSetID    = "it runs as its owner (set-user-ID); restore it by hand"
	refusedParent   = "its folder is not there"
	refusedNotEmpty = "it holds what is not undone"
)

// Plan says how the windows, oldest first, are undone: what is there now is put back to what was
// there before the first, path by path, and only where nobody else changed it. git asks for git's
// own state too. To go from a to b is to undo the window {Before: b, After: a}; a redo undoes the
// window that Apply returned.
func (w *Workspace) Plan(ctx context.Context, git bool, windows ...Window) (Plan, error) {
	return w.PlanLeaving(ctx, git, func(string) string { return "" }, windows...)
}

// PlanLeaving is Plan that leaves paths alone for reasons of the caller; an empty reason is none.
func (w *Workspace) PlanLeaving(ctx context.Context, git bool, leave func(path string) string, windows ...Window) (Plan, error) {
	p := planner{w: w, leave: leave, steps: map[string]*Step{}, refused: map[string]string{}, listings: map[string][]entry{}}
	for _, win := range windows {
		changes, err := w.Diff(ctx, win.Before, win.After)
		if err != nil {
			return Plan{}, err
		}
		p.add(changes)
	}
	if err := w.turn.take(ctx); err != nil {
		return Plan{}, err
	}
	var err error
	p.present, err = unlessSpace(w.takeSome(ctx, slices.Collect(maps.Keys(p.steps)), settleAll)) // nothing else is looked at
	w.turn.give()
	if err != nil {
		return Plan{}, err
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id)
	plan := Plan{ID: hex.EncodeToString(id), Present: p.present}
	if !git {
		plan.Git = p.dropGit()
	}
	if p.judge(); p.err != nil {
		return Plan{}, p.err
	}
	plan.Steps, plan.Refused = p.result()
	return plan, nil
}

// planner gathers the net change of each path.
type planner struct {
	w       *Workspace
	leave   func(path string) string
	steps   map[string]*Step
	refused map[string]string
	present Mark
	// listings are those of the present that were read, by the paths of their folders; err is why one
	// could not be read.
	listings map[string][]entry
	err      error
}

// add counts the changes of one more window.
func (p *planner) add(changes []Change) {
	for _, c := range changes {
		s := p.steps[c.Path]
		if s == nil {
			p.steps[c.Path] = &Step{c.Path, c.After, c.Before}
			continue
		}
		if !s.From.alike(c.Before) && !p.same(c.Path, s.From, c.Before) {
			p.refused[c.Path] = refusedBetween
		}
		s.From = c.After
	}
}

func (p *planner) dropGit() (dropped int) {
	for path, s := range p.steps {
		if groupOf(path, s.From, s.To) == GroupGit {
			delete(p.steps, path)
			delete(p.refused, path)
			dropped++
		}
	}
	return dropped
}

// judge decides for each path whether it is put back.
func (p *planner) judge() {
	for path, s := range p.steps {
		now := p.now(path)
		switch {
		case now.alike(s.To):
			delete(p.steps, path)
			delete(p.refused, path)
		case s.From.Kind == LeftOut || s.To.Kind == LeftOut:
			p.refused[path] = refusedUnknown
		case p.same(path, now, s.To):
			delete(p.steps, path)
			delete(p.refused, path)
		case !now.alike(s.From) && !p.same(path, now, s.From):
			p.refused[path] = refusedChanged
		case s.To.Kind == File && s.To.Mode&0o6000 != 0:
			p.refused[path] = refusedSetID
		case s.To.Kind == File && !p.w.store.Has(s.To.Hash):
			p.refused[path] = refusedContent
		case p.leave(path) != "":
			p.refused[path] = p.leave(path)
		default:
			s.From = now // of two that mean the same, the one that is there
		}
	}
	p.parents()
	p.children()
}

// same reports whether two contents of a path mean the same.
func (p *planner) same(path string, a, b Entry) bool {
	if p.w.opts.Same == nil || a.Kind != File || b.Kind != File || a.Mode != b.Mode || a.Attrs != b.Attrs || groupOf(path, a, b) != GroupGit {
		return false
	}
	x, err := p.w.Content(a.Hash)
	y, err2 := p.w.Content(b.Hash)
	return err == nil && err2 == nil && p.w.opts.Same(path, x, y)
}

// now is what stands at a path.
func (p *planner) now(path string) Entry {
	parent, name := parentOf(path), pathpkg.Base(path)
	if path == rootPath {
		name = rootName
	}
	all := p.listing(parent)
	i, ok := slices.BinarySearchFunc(all, name, func(l entry, name string) int { return strings.Compare(l.name, name) })
	if !ok {
		return Entry{}
	}
	return all[i].Entry
}

// listing is what stands in a folder, in the order of the names; "" is the root.
func (p *planner) listing(folder string) []entry {
	all, known := p.listings[folder]
	if known {
		return all
	}
	at := Entry{Kind: Folder, Hash: p.present.Tree}
	if folder != "" {
		at = p.now(folder)
	}
	if at.Kind == Folder {
		var err error
		all, err = p.w.listing(at.Hash)
		p.err = errors.Join(p.err, err)
	}
	p.listings[folder] = all
	return all
}

// parents refuses what would stand in no folder. Folders come before what is in them.
func (p *planner) parents() {
	for _, s := range p.sorted() {
		parent := parentOf(s.Path)
		if s.To.Kind == Absent || parent == "" || p.refused[s.Path] != "" {
			continue
		}
		if p.later(parent).Kind != Folder {
			p.refused[s.Path] = refusedParent
		}
	}
}

// children refuses to remove a folder in which something stays. What is in a folder comes before
// it.
func (p *planner) children() {
	steps := p.sorted()
	slices.Reverse(steps)
	for _, s := range steps {
		if s.From.Kind != Folder || s.To.Kind == Folder || p.refused[s.Path] != "" {
			continue
		}
		stays := func(l entry) bool { return l.name != rootName && p.later(pathpkg.Join(s.Path, l.name)).Kind != Absent }
		if slices.ContainsFunc(p.listing(s.Path), stays) {
			p.refused[s.Path] = refusedNotEmpty
		}
	}
}

// later is what stands at a path when the plan is done.
func (p *planner) later(path string) Entry {
	if s := p.steps[path]; s != nil && p.refused[path] == "" {
		return s.To
	}
	return p.now(path)
}

func (p *planner) sorted() []*Step {
	all := make([]*Step, 0, len(p.steps))
	for _, s := range p.steps {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Step) int { return strings.Compare(a.Path, b.Path) })
	return all
}

func (p *planner) result() (steps []Step, refused []Refusal) {
	for _, s := range p.sorted() {
		if reason := p.refused[s.Path]; reason != "" {
			refused = append(refused, Refusal{s.Path, reason})
		} else {
			steps = append(steps, *s)
		}
	}
	slices.SortFunc(refused, func(a, b Refusal) int { return cmp.Compare(a.Path, b.Path) })
	return steps, refused
}

// parentOf is the folder of a path; "" for what stands in the root.
func parentOf(p string) string {
	if dir := pathpkg.Dir(p); dir != "." {
		return dir
	}
	return ""
}

func (r Refusal) String() string { return fmt.Sprintf("%s: %s", r.Path, r.Reason) }
