// Package atomicfile replaces files atomically: a reader, a crash or a full disk leaves the old
// file or the new one, never a part.
//
// The one rule: data has a temporary name until it is complete, and later writers in the folder
// remove leftovers from killed processes, immediately for a single writer, within some writes for
// concurrent ones. Start reading at Write.
//
// Known limits: the file's owner becomes the writer, and extended attributes are lost
// (internal/files/workspace keeps them for a user's sources). Leftovers stay on file systems
// without locks, and if more than sixteen processes write into one folder at once.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// private is the mode of adze's own files.
const private fs.FileMode = 0o600

// Write replaces a file, readable only by its owner, and returns once it is durable.
func Write(path string, data []byte) error {
	return writer{durable: true}.replace(path, data, private)
}

// WriteCache is Write without waiting for the disk, for data that can be fetched again after a
// power cut.
func WriteCache(path string, data []byte) error {
	return writer{}.replace(path, data, private)
}

// Rewrite is Write for a user's file: it keeps the mode, and a link stays a link.
func Rewrite(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := private
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return writer{durable: true}.replace(path, data, mode)
}

// Create is Write for a new file: if it exists, Create fails with fs.ErrExist and leaves it alone.
// On a file system without hard links, a killed process leaves a part.
func Create(path string, data []byte) error {
	return writer{durable: true}.create(path, data)
}

type writer struct {
	durable bool
	step    func() // called before each change to the disk; only in tests
}

func (w writer) next() {
	if w.step != nil {
		w.step()
	}
}

func (w writer) replace(path string, data []byte, mode fs.FileMode) error {
	f, err := w.complete(path, data, mode)
	if err != nil {
		return err
	}
	defer f.Close() // releases the lock; earlier, before the rename, others would remove the file
	w.next()
	if err := rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return w.settle(path)
}

func (w writer) create(path string, data []byte) error {
	f, err := w.complete(path, data, private)
	if err != nil {
		return err
	}
	defer f.Close()
	w.next()
	linked := os.Link(f.Name(), path) // like a rename that replaces nothing
	w.next()
	removed := os.Remove(f.Name())
	switch {
	case linked == nil:
		return errors.Join(removed, w.settle(path))
	case errors.Is(linked, fs.ErrExist):
		return linked
	default: // a file system without links
		return w.createAt(path, data)
	}
}

func (w writer) createAt(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return w.settle(path)
}

// complete writes a temporary file beside path.
func (w writer) complete(path string, data []byte, mode fs.FileMode) (*os.File, error) {
	w.next()
	f, err := unfinished(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	w.next()
	_, err = f.Write(data)
	if mode != private {
		err = errors.Join(err, f.Chmod(mode))
	}
	w.next()
	if w.durable {
		err = errors.Join(err, f.Sync())
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	return f, nil
}

// settle makes the new name durable.
func (w writer) settle(path string) error {
	w.next()
	if !w.durable {
		return nil
	}
	return SyncFolder(filepath.Dir(path))
}
