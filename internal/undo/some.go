package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Last returns the mark of the last state taken in this process, or false. It looks at nothing.
func (w *Workspace) Last() (Mark, bool) {
	w.turn <- struct{}{}
	defer w.turn.give()
	if !w.fullyWalked {
		return Mark{}, false
	}
	return Mark{w.tree.hash}, true
}

// TakeAt is like Take for a caller that knows the changed paths, relative to the folder. The new
// state is the last one with only these paths and everything below them updated, so its cost does
// not depend on the folder's size. The next Take finds other changes and counts the limits of all
// files again.
//
// With Options.Named the state holds the paths alone, without a named folder's content or paths
// reached through links.
func (w *Workspace) TakeAt(ctx context.Context, paths []string) (Mark, error) {
	if err := w.turn.take(ctx); err != nil {
		return Mark{}, err
	}
	defer w.turn.give()
	return w.takeSome(ctx, paths, settleSome)
}

// takeSome is TakeAt for a caller that holds the turn.
func (w *Workspace) takeSome(ctx context.Context, paths []string, settle int64) (Mark, error) {
	if w.opts.Named {
		w.only = paths
		return w.takeLocked(ctx, settleAll)
	}
	if !w.fullyWalked || w.dropped != w.store.Dropped() {
		if m, err := unlessSpace(w.takeLocked(ctx, settleSome)); err != nil {
			return m, err
		}
	}
	if w.overLimit {
		return w.takeLocked(ctx, settle)
	}
	k, tree, err := w.lookAtSome(ctx, paths, settle)
	if errors.Is(err, errAgain) {
		return w.takeLocked(ctx, settle)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("take the state of %s: %w", w.opts.Root, err)
	}
	return w.keepTree(k, tree)
}

// lookAtSome builds a tree in which only some paths differ from the last one.
func (w *Workspace) lookAtSome(ctx context.Context, paths []string, settle int64) (*walker, *dir, error) {
	root, err := openRoot(w.opts.Root)
	if err != nil {
		return nil, nil, err
	}
	defer root.close()
	if top, err := root.stat("."); err != nil || top.inode != w.top && w.top != (inode{}) {
		return nil, nil, errAgain
	}
	var split [][]string
	for _, p := range paths {
		if p = path.Clean(filepath.ToSlash(p)); p == "." || !filepath.IsLocal(p) {
			return nil, nil, errAgain
		}
		split = append(split, strings.Split(p, "/"))
	}
	slices.SortFunc(split, slices.Compare)
	k, err := w.newWalker(ctx, settle)
	if err != nil {
		return nil, nil, err
	}
	k.some = true
	w.looked.Store(0)
	h := &hand{walker: k}
	s := scope{level: k.opts.Ignore.Root(k.opts.Root)}
	tree, err := h.places(root, s, w.tree, split)
	return k, tree, err
}

// places builds a folder's tree, looking only at the sorted paths.
func (k *hand) places(at folder, s scope, prev *dir, paths [][]string) (*dir, error) {
	d := &dir{nodes: slices.Clone(prev.nodes), self: prev.self, prev: prev}
	look := k.placed
	if k.opts.Named {
		look = k.named
	} else {
		s = k.inside(at, s, func(name string) bool { _, ok := prev.search(name); return ok })
	}
	for len(paths) > 0 {
		name, below := paths[0][0], [][]string(nil)
		whole := false
		for len(paths) > 0 && paths[0][0] == name {
			if rest := paths[0][1:]; len(rest) > 0 {
				below = append(below, rest)
			} else {
				whole = true
			}
			paths = paths[1:]
		}
		if whole && !k.opts.Named {
			below = nil
		}
		if err := look(at, s, d, name, below); err != nil {
			return nil, err
		}
	}
	return d, k.ctx.Err()
}

// placed looks at one entry of a folder: at the paths below it, or at all of it if there are none.
func (k *hand) placed(at folder, s scope, d *dir, name string, below [][]string) error {
	if strings.HasPrefix(name, tempPrefix) {
		return nil
	}
	i, known := d.search(name)
	k.looked.Add(1)
	st, err := at.stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errAgain
	}
	if err == nil && st.isFile() && st.links > 1 {
		return errAgain // a write to one hard link changes the others
	}
	var was *node
	if known {
		n := d.nodes[i]
		was = &n
	}
	switch {
	case known && len(below) > 0 && was.Kind == LeftOut && err == nil:
		return nil
	case known && len(below) > 0 && was.Kind == Folder && !was.ignored && err == nil && st.isFolder() && st.inode == was.stat.inode:
		child, err := at.openFolder(name)
		if err != nil {
			return errAgain
		}
		defer child.close()
		d.nodes[i].sub, err = k.places(child, k.scopeOf(s, was), was.sub, below)
		return err
	}
	if !known && err == nil && slices.ContainsFunc(d.nodes, func(n node) bool { return n.stat.inode == st.inode && n.stat.links < 2 }) {
		return errAgain // another spelling of a name
	}
	k.moved = k.moved || known && leavesOut(was)
	n, covered := node{name: name, stat: st}, false
	if err == nil {
		n.ignored, covered = k.covers(s, name, st)
	}
	switch {
	case covered && known:
		d.nodes[i] = n
	case covered:
		d.nodes = slices.Insert(d.nodes, i, n)
	case known:
		d.nodes = slices.Delete(d.nodes, i, i+1)
		k.changed.Store(true)
		return nil
	default:
		return nil
	}
	if err := k.node(at, s, &d.nodes[i], was); err != nil {
		return err
	}
	k.moved = k.moved || leavesOut(&d.nodes[i])
	return nil
}

// leavesOut reports whether part of an entry is not covered.
func leavesOut(n *node) bool {
	return n.Kind == LeftOut || n.sub != nil && slices.ContainsFunc(n.sub.nodes, func(n node) bool { return leavesOut(&n) })
}
