package undo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/undo/pack"
)

// Retention limits the named states that Prune keeps. Zero fields mean the defaults.
type Retention struct {
	Age  time.Duration // maximum age of a state; default 14 days
	Size int64         // maximum bytes on disk of all states; default 2 GiB
}

// retentionAge is the default maximum age of kept states.
const retentionAge = 14 * 24 * time.Hour

// A Named is a state a session refers to, with its time.
type Named struct {
	Mark Mark
	At   time.Time
}

// Pruned is the result of Prune.
type Pruned struct {
	Dropped []Mark // named states that are no longer complete
	Freed   int64  // bytes freed on disk
}

// Prune deletes the contents needed by no named state that is young enough and within the size,
// newest first. It always keeps the latest state. A Plan refuses the paths of deleted contents.
// Prune needs at most one pack (64 MiB) of extra disk space and may be killed at any moment. It
// fails with ErrInUse, deleting nothing, while another process covers the folder.
func (w *Workspace) Prune(ctx context.Context, r Retention, named ...Named) (Pruned, error) {
	if err := w.turn.take(ctx); err != nil {
		return Pruned{}, err
	}
	defer w.turn.give()
	if r.Age <= 0 {
		r.Age = retentionAge
	}
	if r.Size <= 0 {
		r.Size = 2 << 30
	}
	keep, err := w.always(ctx, r.Age)
	if err != nil {
		return Pruned{}, err
	}
	var p Pruned
	named = slices.Clone(named)
	slices.SortStableFunc(named, func(a, b Named) int { return b.At.Compare(a.At) })
	oldest := w.opts.Now().Add(-r.Age)
	for _, n := range named {
		if n.At.Before(oldest) || !keep.within(n.Mark, r.Size) {
			p.Dropped = append(p.Dropped, n.Mark)
		}
	}
	p.Freed, err = w.sweep(ctx, pack.Sweep{Live: keep.has})
	return p, err
}

// sweep deletes contents. The caller holds the turn.
func (w *Workspace) sweep(ctx context.Context, s pack.Sweep) (int64, error) {
	s.Step = w.moment
	freed, err := w.store.Sweep(ctx, s)
	if errors.Is(err, pack.ErrInUse) {
		err = ErrInUse
	}
	if err != nil {
		return freed, fmt.Errorf("drop old states of %s: %w", w.opts.Root, err)
	}
	return freed, os.RemoveAll(filepath.Join(w.opts.State, "clones")) // an older adze stored large files there
}

// keptContents is a set of contents that states need.
type keptContents struct {
	store *pack.Store
	w     *Workspace
	all   map[pack.Hash]bool
	size  int64 // bytes on disk
}

func (k *keptContents) has(h pack.Hash) bool { return k.all[h] }

// always returns the contents needed by the latest state, by unfinished undos, and by young enough
// undo results in the journal.
func (w *Workspace) always(ctx context.Context, age time.Duration) (*keptContents, error) {
	if w.tree == nil {
		if _, err := unlessSpace(w.takeLocked(ctx, settleSome)); err != nil {
			return nil, err
		}
	}
	k := &keptContents{store: w.store, w: w, all: map[pack.Hash]bool{}}
	k.state(w.tree.hash)
	plans, err := filepath.Glob(w.planPath("*"))
	if err != nil {
		return nil, err
	}
	for _, path := range plans {
		p, err := readPlan(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w; an undo is left half-way there", err)
		}
		k.state(p.Present.Tree)
		for _, s := range p.Steps {
			for _, e := range []Entry{s.From, s.To} {
				if e.Kind == File {
					k.add(e.Hash)
				}
			}
		}
	}
	for _, id := range w.Results() {
		info, err := os.Stat(w.resultPath(id))
		if err != nil || info.ModTime().Before(w.opts.Now().Add(-age)) {
			continue // no log waits for it
		}
		if _, r, err := w.Journal(id); err == nil {
			k.state(r.Window.Before.Tree)
			k.state(r.Window.After.Tree)
		}
	}
	return k, nil
}

// within adds a state if it fits into size as a whole.
func (k *keptContents) within(m Mark, size int64) bool {
	if k.all[m.Tree] {
		return true
	}
	before := k.size
	added := k.state(m.Tree)
	if k.size <= size {
		return true
	}
	for _, h := range added {
		delete(k.all, h)
	}
	k.size = before
	return false
}

// state adds a state's contents and returns the new ones. It skips missing or damaged ones.
func (k *keptContents) state(tree pack.Hash) (added []pack.Hash) {
	if !k.add(tree) {
		return nil
	}
	added = []pack.Hash{tree}
	all, err := k.w.listing(tree)
	if err != nil {
		return added
	}
	for _, e := range all {
		if e.name == rootName {
			continue
		}
		switch e.Kind {
		case Folder:
			added = append(added, k.state(e.Hash)...)
		case File:
			if k.add(e.Hash) {
				added = append(added, e.Hash)
			}
		}
	}
	return added
}

func (k *keptContents) add(h pack.Hash) bool {
	if k.all[h] {
		return false
	}
	k.all[h] = true
	k.size += k.store.Size(h)
	return true
}
