// Package atomicfile replaces a file by a whole new one: a reader, a crash and a full disk find the
// old one or the new one, never a part. The one rule: what is written has another name until it is
// complete, and whoever writes next into the folder removes what a killed process left there: at
// once what one writer left, and within some writes what several at the same time did. Start
// reading at Write.
//
// Known limits: the owner of a file becomes whoever replaces it, and its extended attributes are
// not kept (the workspace's writes of a user's sources are, in internal/files/workspace). Where a
// file system knows no locks, and of more than sixteen that write into one folder at the same time,
// what a killed process left stays.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// private is the mode of files that are adze's own.
const private fs.FileMode = 0o600

// Write replaces a file, for its owner alone to read, and returns when it survives a power cut.
func Write(path string, data []byte) error {
	return writer{durable: true}.replace(path, data, private)
}

// WriteCache is Write without waiting for the disk: for what is only asked for again when a power
// cut takes it.
func WriteCache(path string, data []byte) error {
	return writer{}.replace(path, data, private)
}

// Rewrite is Write for a file that is a user's: it keeps its mode, and a link to it stays one.
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

// Create is Write for a file that must not be there yet: it fails with fs.ErrExist and leaves alone
// what is. On a file system without hard links, a process that is killed here leaves a part.
func Create(path string, data []byte) error {
	return writer{durable: true}.create(path, data)
}

// writer is how a file is written.
type writer struct {
	durable bool
	step    func() // called before each step that changes the disk; of tests, nil otherwise
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
	defer f.Close() // and with it its lock: before the file has its name, others would remove it
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
	linked := os.Link(f.Name(), path) // as a rename that replaces nothing
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

// createAt writes at the place itself.
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

// complete makes a file beside path that has all but its name.
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

// settle makes the new name last.
func (w writer) settle(path string) error {
	w.next()
	if !w.durable {
		return nil
	}
	return SyncFolder(filepath.Dir(path))
}
