package undo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A folder that is too wide to be looked at can still be opened with Options.Named: then a state is
// of single paths, with the folders above them, and of nothing else. Two states are only compared
// where they are of the same paths.

// TooWide says why a folder is not covered as a whole; if nil, nothing speaks against it.
func TooWide(o Options) error {
	root := filepath.Clean(o.Root)
	if root == filepath.Dir(root) {
		return fmt.Errorf("%s: %w", root, ErrTooWide)
	}
	for _, inner := range append(slices.Clone(o.Apart), o.Home) {
		if inner == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(inner)
		if err != nil {
			real = inner // what is not there yet, is where it says
		}
		if around(root, filepath.Clean(inner)) || around(root, real) {
			return fmt.Errorf("%s: %w", root, ErrTooWide)
		}
	}
	return nil
}

// around reports whether a folder is another one or above it, whatever the spelling of the names.
func around(root, inner string) bool {
	if inner == root || strings.HasPrefix(inner, root+string(filepath.Separator)) {
		return true
	}
	top, err := os.Stat(root)
	if err != nil {
		return false
	}
	for ; ; inner = filepath.Dir(inner) {
		if at, err := os.Stat(inner); err == nil && os.SameFile(at, top) {
			return true
		}
		if inner == filepath.Dir(inner) {
			return false
		}
	}
}

// Named reports that only named paths are covered.
func (w *Workspace) Named() bool { return w.opts.Named }

// lookAtNamed makes the tree of the paths that are named.
func (w *Workspace) lookAtNamed(ctx context.Context, root folder) (*walker, *dir, error) {
	k, err := w.newWalker(ctx, settleAll)
	if err != nil {
		return nil, nil, err
	}
	var paths [][]string
	for _, p := range w.only {
		if p = path.Clean(filepath.ToSlash(p)); p != "." && filepath.IsLocal(p) {
			paths = append(paths, strings.Split(p, "/"))
		}
	}
	slices.SortFunc(paths, slices.Compare)
	h := &hand{walker: k}
	tree, err := h.named(root, "", paths)
	if err == nil {
		tree.self = rootEntry(root)
	}
	return k, tree, err
}

// named makes the tree of paths below a folder, which are sorted, so that those of one name stand
// together.
func (k *hand) named(at folder, prefix string, paths [][]string) (*dir, error) {
	d := &dir{}
	for len(paths) > 0 {
		name := paths[0][0]
		var below [][]string
		for len(paths) > 0 && paths[0][0] == name {
			if rest := paths[0][1:]; len(rest) > 0 {
				below = append(below, rest)
			}
			paths = paths[1:]
		}
		st, err := at.stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", prefix+name, err)
		}
		n := node{name: name, stat: st}
		if err := k.namedNode(at, prefix, &n, below); err != nil {
			return nil, err
		}
		d.nodes = append(d.nodes, n)
	}
	slices.SortFunc(d.nodes, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	return d, k.ctx.Err()
}

func (k *hand) namedNode(at folder, prefix string, n *node, below [][]string) error {
	outside := n.stat.inode == k.state || slices.Contains(k.forgotten, prefix+n.name)
	if !n.stat.isFolder() || outside {
		return k.node(at, scope{path: prefix}, n, nil)
	}
	child, err := at.openFolder(n.name)
	if err != nil {
		leave(n, leftUnreadable)
		return nil
	}
	defer child.close()
	n.Kind, n.Mode, n.Attrs = Folder, n.stat.mode&0o7777, attrsOf(child.fd)
	n.sub, err = k.named(child, prefix+n.name+"/", below)
	return err
}
