package undo

import (
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
	tree, err := h.places(root, scope{}, &dir{self: rootEntry(root)}, paths)
	return k, tree, err
}

// named looks at an entry that is named, or above such ones: in a folder at those alone.
func (k *hand) named(at folder, s scope, d *dir, name string, below [][]string) error {
	st, err := at.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.path+name, err)
	}
	n := node{name: name, stat: st}
	outside := st.inode == k.state || slices.Contains(k.forgotten, s.path+name)
	if !st.isFolder() || outside {
		err = k.node(at, s, &n, nil)
	} else if child, open := at.openFolder(name); open != nil {
		leave(&n, leftUnreadable)
	} else {
		defer child.close()
		n.Kind, n.Mode, n.Attrs = Folder, st.mode&0o7777, attrsOf(child.fd)
		n.sub, err = k.places(child, scope{path: s.path + name + "/"}, &dir{}, below)
	}
	d.nodes = append(d.nodes, n) // the names come in their order
	return err
}
