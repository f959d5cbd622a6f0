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

// Retention is what Prune keeps of the states that are named. Zero fields mean the defaults.
type Retention struct {
	Age  time.Duration // how old a state may be; 14 days
	Size int64         // bytes that all of them may take on the disk; 2 GiB
}

// retentionAge is the age of states that are kept unless the caller says otherwise.
const retentionAge = 14 * 24 * time.Hour

// Named is a state that a session still names, and when it was taken.
type Named struct {
	Mark Mark
	At   time.Time
}

// Pruned is what Prune did.
type Pruned struct {
	Dropped []Mark // named states of which not everything is kept any more
	Freed   int64  // bytes that the disk won
}

// Prune drops the contents that no state needs which is named, young enough and within the size,
// the newest first; the latest state is always kept. A path whose content is dropped is refused by
// a Plan and named. It needs no more room on the disk than one pack (64 MiB), may be killed at any
// moment, and fails with ErrInUse, and drops nothing, while another process covers the folder.
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

// sweep drops contents for whoever has the turn.
func (w *Workspace) sweep(ctx context.Context, s pack.Sweep) (int64, error) {
	s.Step = w.moment
	freed, err := w.store.Sweep(ctx, s)
	if errors.Is(err, pack.ErrInUse) {
		err = ErrInUse
	}
	if err != nil {
		return freed, fmt.Errorf("drop old states of %s: %w", w.opts.Root, err)
	}
	return freed, os.RemoveAll(filepath.Join(w.opts.State, "clones")) // an older adze kept large files there
}

// keptContents are the contents that states need.
type keptContents struct {
	store *pack.Store
	w     *Workspace
	all   map[pack.Hash]bool
	size  int64 // bytes that they take on the disk
}

func (k *keptContents) has(h pack.Hash) bool { return k.all[h] }

// always are the contents of the latest state, of undos that were not finished, and of those whose
// results are in the journal and young enough.
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

// within adds a state when all of it fits into a size.
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

// state adds the contents of a state, and tells which they are. What is missing or damaged is
// stepped over.
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
