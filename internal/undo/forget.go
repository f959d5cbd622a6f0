package undo

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/osfile/atomicfile"
	"adze/internal/undo/pack"
)

// Forget deletes the stored contents of paths (relative to the folder) and everything below them
// from all states, and excludes these paths from now on. Their names stay in the states. A content
// that also exists at another present path stays; in other states only those of named stay. Forget
// returns the number of deleted contents. It fails with ErrInUse, deleting nothing, while another
// process covers the folder.
func (w *Workspace) Forget(ctx context.Context, paths []string, named ...Mark) (int, error) {
	if err := w.turn.take(ctx); err != nil {
		return 0, err
	}
	defer w.turn.give()
	keep, err := w.always(ctx, retentionAge)
	if err != nil {
		return 0, err
	}
	states := []pack.Hash{w.tree.hash}
	for _, m := range named {
		keep.state(m.Tree)
		states = append(states, m.Tree)
	}
	before := w.forgotten
	if err := w.setForgotten(append(slices.Clone(before), cleaned(paths)...)); err != nil {
		return 0, err
	}
	drop := map[pack.Hash]Entry{}
	for _, tree := range states {
		for _, p := range cleaned(paths) {
			w.below(tree, p, drop)
		}
	}
	for h, e := range drop {
		if !w.store.Has(e.Hash) {
			delete(drop, h)
		}
	}
	if _, err := w.sweep(ctx, pack.Sweep{All: true, Live: func(h pack.Hash) bool { return keep.has(h) && drop[h].Kind == Absent }}); err != nil {
		if errors.Is(err, ErrInUse) {
			err = errors.Join(err, w.setForgotten(before))
		}
		return 0, err
	}
	// Take the present state again, without the paths but with contents that exist elsewhere too.
	_, err = unlessSpace(w.takeLocked(ctx, settleSome))
	return len(drop), err
}

func cleaned(paths []string) []string {
	all := make([]string, len(paths))
	for i, p := range paths {
		all[i] = strings.TrimPrefix(path.Clean("/"+p), "/")
	}
	return all
}

// below collects the contents at and below a path of a state.
func (w *Workspace) below(tree pack.Hash, p string, drop map[pack.Hash]Entry) {
	entries, err := w.listing(tree)
	if err != nil {
		return
	}
	name, rest, more := strings.Cut(p, "/")
	for _, e := range entries {
		switch {
		case e.name == rootName, p != "" && e.name != name:
		case e.Kind == Folder:
			w.below(e.Hash, rest, drop)
		case e.Kind == File && !more:
			drop[e.Hash] = e.Entry
		}
	}
}

func (w *Workspace) forgottenPath() string { return filepath.Join(w.opts.State, "forgotten") }

// setForgotten writes the list of forgotten paths, each followed by a zero byte.
func (w *Workspace) setForgotten(paths []string) error {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	var text strings.Builder
	for _, p := range paths {
		text.WriteString(p + "\x00")
	}
	if err := atomicfile.Write(w.forgottenPath(), []byte(text.String())); err != nil {
		return err
	}
	w.forgotten = paths
	w.fullyWalked = false // the next Take walks everything
	return nil
}

func (w *Workspace) loadForgotten() ([]string, error) {
	text, err := os.ReadFile(w.forgottenPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(string(text), "\x00"), func(p string) bool { return p == "" }), nil
}
