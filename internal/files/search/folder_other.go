//go:build !linux

package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/files/search/ignore"
)

// folder is an open folder. Everything below it is opened through an os.Root, which no link
// escapes.
type folder struct{ root *os.Root }

// instead returns path: only Linux supports OpenDir.
func (Tree) instead(path string) string { return path }

func (t Tree) openRoot() (folder, error) {
	path := t.Root
	info, err := os.Stat(path)
	if err != nil {
		return folder{}, err
	}
	if !info.IsDir() {
		return folder{}, errNotFolder
	}
	root, err := os.OpenRoot(path)
	return folder{root}, err
}

func (t Tree) openRootFile(h *handle) error {
	path := t.Root
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return folder{root}.openFile(filepath.Base(path), h)
}

// handle is an open regular file, reused for one file after another. It must be closed.
type handle struct{ *os.File }

func (f folder) openFolder(name string) (folder, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return folder{}, err
	}
	if !info.IsDir() {
		return folder{}, errNotFolder
	}
	root, err := f.root.OpenRoot(name)
	return folder{root}, err
}

func (f folder) openFile(name string, h *handle) error {
	info, err := f.root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errNotRegular
	}
	h.File, err = f.root.Open(name)
	return err
}

type asker struct{}

// file returns an entry's size and modification time in nanoseconds since 1970; links are not
// followed.
func (*asker) file(f folder, name string) (size, modified int64, err error) {
	st, err := f.stat(name)
	return st.size, st.modified.UnixNano(), err
}

func (f folder) close() { _ = f.root.Close() }

func (f folder) stat(name string) (stat, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return stat{}, err
	}
	return stat{kind: kindOfMode(info.Mode()), size: info.Size(), modified: info.ModTime()}, nil
}

func (f folder) readLink(name string) string {
	target, err := f.root.Readlink(name)
	if err != nil {
		return ""
	}
	return target
}

// names is a reusable buffer for reading folders.
type names struct {
	query ignore.Query
	tasks []task
	files []entry
	list  []entry
	more  bool // always false here
}

// read reads the whole folder in the file system's order. The list is valid until the next read.
func (f folder) read(n *names, _ int) (err error) {
	n.list = nil
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	entries, err := dir.ReadDir(-1)
	for _, e := range entries {
		n.list = append(n.list, entry{name: e.Name(), kind: kindOfMode(e.Type())})
	}
	return err
}

func kindOfMode(m fs.FileMode) kind {
	switch {
	case m.IsRegular():
		return kindFile
	case m.IsDir():
		return kindFolder
	case m&fs.ModeSymlink != 0:
		return kindLink
	}
	return kindOther
}
