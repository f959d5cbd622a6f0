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

// A Window is a stretch of time whose changes are undone: one call, one turn, or an earlier undo.
type Window struct{ Before, After Mark }

// A Step changes one path from its expected entry to its old one.
type Step struct {
	Path string
	From Entry
	To   Entry
}

// A Refusal is a path that is left alone.
type Refusal struct {
	Path   string
	Reason string
}

// A Plan lists the changes of Apply and everything to show to the user before.
type Plan struct {
	ID      string
	Present Mark // the state the plan was made for
	Steps   []Step
	Refused []Refusal
	Git     int // changes to git's own state, which was not requested
}

// Reasons for refusing a path.
const (
	refusedChanged  = "it changed since, not by what is undone"
	refusedBetween  = "it was changed in between, not by what is undone"
	refusedUnknown  = "undo does not cover it"
	refusedContent  = "its content is no longer kept"
	refusedSetID    = "it runs as its owner (set-user-ID); restore it by hand"
	refusedParent   = "its folder is not there"
	refusedNotEmpty = "it holds what is not undone"
)

// Plan returns the steps that undo the windows, oldest first. Each path goes back to its entry
// before the first window, unless somebody else changed it. git includes git's own state. To go
// from a to b, undo the window {Before: b, After: a}. To redo, undo the window that Apply returned.
// It leaves the paths alone for which leave holds a reason. same reports whether two contents of a
// file in git's own state are equivalent; if nil, only equal ones are.
func (w *Workspace) Plan(ctx context.Context, git bool, leave map[string]string, same func(path string, a, b []byte) bool, windows ...Window) (Plan, error) {
	p := planner{w: w, leave: leave, equivalent: same, steps: map[string]*Step{}, refused: map[string]string{}, listings: map[string][]entry{}}
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
	p.present, err = unlessSpace(w.takeSome(ctx, slices.Collect(maps.Keys(p.steps)), settleAll)) // looks at nothing else
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

// planner collects the net change of each path.
type planner struct {
	w          *Workspace
	leave      map[string]string // reasons by path
	equivalent func(path string, a, b []byte) bool
	steps      map[string]*Step
	refused    map[string]string
	present    Mark
	// listings caches the present listings by folder. err is the first error reading one.
	listings map[string][]entry
	err      error
}

func (p *planner) add(changes []Change) {
	for _, c := range changes {
		s := p.steps[c.Path]
		if s == nil {
			p.steps[c.Path] = &Step{c.Path, c.After, c.Before}
			continue
		}
		if !s.From.equal(c.Before) && !p.same(c.Path, s.From, c.Before) {
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

// judge decides which paths are restored.
func (p *planner) judge() {
	for path, s := range p.steps {
		now := p.now(path)
		switch {
		case now.equal(s.To):
			delete(p.steps, path)
			delete(p.refused, path)
		case s.From.Kind == LeftOut || s.To.Kind == LeftOut:
			p.refused[path] = refusedUnknown
		case p.same(path, now, s.To):
			delete(p.steps, path)
			delete(p.refused, path)
		case !now.equal(s.From) && !p.same(path, now, s.From):
			p.refused[path] = refusedChanged
		case s.To.Kind == File && s.To.Mode&0o6000 != 0:
			p.refused[path] = refusedSetID
		case s.To.Kind == File && !p.w.store.Has(s.To.Hash):
			p.refused[path] = refusedContent
		case p.leave[path] != "":
			p.refused[path] = p.leave[path]
		default:
			s.From = now // equivalent, so expect the present one
		}
	}
	p.parents()
	p.children()
}

// same reports whether two contents of a path are equivalent.
func (p *planner) same(path string, a, b Entry) bool {
	if p.equivalent == nil || a.Kind != File || b.Kind != File || a.Mode != b.Mode || a.Attrs != b.Attrs || groupOf(path, a, b) != GroupGit {
		return false
	}
	x, err := p.w.Content(a.Hash)
	y, err2 := p.w.Content(b.Hash)
	return err == nil && err2 == nil && p.equivalent(path, x, y)
}

// now returns the present entry at a path.
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

// listing returns a folder's present entries by name. "" is the root.
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

// parents refuses paths whose folder would not exist. Folders come before their entries.
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

// children refuses to remove folders that would not be empty. Entries come before their folder.
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

// later returns the entry at a path after the plan.
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

func parentOf(p string) string {
	if dir := pathpkg.Dir(p); dir != "." {
		return dir
	}
	return ""
}

func (r Refusal) String() string { return fmt.Sprintf("%s: %s", r.Path, r.Reason) }
