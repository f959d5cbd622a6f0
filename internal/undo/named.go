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

// With Options.Named, undo also opens folders that are too wide to walk. A state then holds only
// single paths and the folders above them, and is comparable only with states of the same paths.

// TooWide returns an error that explains why a folder is not covered as a whole, or nil.
func TooWide(o Options) error {
	root := filepath.Clean(o.Root)
	if root == filepath.Dir(root) {
		return fmt.Errorf("%s: %w", root, ErrTooWide)
	}
	for _, inner := range append(slices.Clone(o.Excluded), o.Home) {
		if inner == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(inner)
		if err != nil {
			real = inner // it does not exist yet
		}
		if around(root, filepath.Clean(inner)) || around(root, real) {
			return fmt.Errorf("%s: %w", root, ErrTooWide)
		}
	}
	return nil
}

// around reports whether a folder is the same as or above another, whatever the spelling.
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

// Named reports whether only named paths are covered.
func (w *Workspace) Named() bool { return w.opts.Named }

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

// named looks at an entry that is named or above a named one; in a folder, only at those.
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
	d.nodes = append(d.nodes, n) // names come in order
	return err
}
