// Package ownfile reads the files that adze believes: configuration, hooks, consents, keys, what
// the owner of the machine says, and texts of the user that become instructions.
//
// The one rule: such a file, the folder that holds it, and where it is a link also the link and the
// folder of the real file, belong to the user or to root, and nobody else can write them. The
// user's private group is nobody else. Whoever could write such a file could have programs run in
// the user's name.
//
// Start reading at Rule.Read. Known limits: folders further up are not looked at, and access
// control lists only as far as they show in the mode.
package ownfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Rule says which files are believed.
type Rule struct {
	Owner   int   // the user whose files are believed, beside root
	Most    int64 // bytes that the file may have
	Private bool  // others must not be able to read it either
	NoLink  bool  // it must not be a link
}

// Mine is the rule for files of the user who runs adze.
func Mine(most int64) Rule { return Rule{Owner: os.Geteuid(), Most: most} }

// Error is a file that is not believed.
type Error struct{ Path, Why, Hint string }

// Error implements error.
func (e *Error) Error() string { return e.Path + " " + e.Why }

// Of is the reason in words that follow the name of a file which somebody asked for: it names
// another one that is to blame.
func (e *Error) Of(path string) string {
	if e.Path == path {
		return e.Why
	}
	return e.Error()
}

// Next is the next move.
func (e *Error) Next() string { return e.Hint }

// Read reads a file. It never waits, whatever is there. The error of one that is not there is
// fs.ErrNotExist; that of one that is not believed is an *Error.
func (r Rule) Read(path string) ([]byte, error) {
	real, err := r.way(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK|noTerminal, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := r.file(real, info); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, r.Most+1))
	if err == nil && int64(len(raw)) > r.Most {
		err = r.tooLong(real)
	}
	return raw, err
}

// Check judges a file without reading it.
func (r Rule) Check(path string) error {
	real, err := r.way(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	return r.file(real, info)
}

// Folder judges a folder that adze keeps its own files in; one that is not there is none.
func (r Rule) Folder(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &Error{path, "is no folder", "remove it, or name another"}
	}
	return r.entry(path, info)
}

// Own judges a folder of adze itself as Folder does. It must be no link: who can write what the
// link stands in could have another folder believed.
func (r Rule) Own(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return &Error{path, "is a link", "put the folder itself there, or name the real one with ADZE_HOME; files in it may be links"}
	}
	return r.Folder(path)
}

// way judges what leads to a file, and returns where it really is.
func (r Rule) way(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if err := r.Folder(filepath.Dir(path)); err != nil {
		return "", err
	}
	if info.Mode().Type() != fs.ModeSymlink {
		return path, nil
	}
	if r.NoLink {
		return "", &Error{path, "is a link", "put the file itself there"}
	}
	if err := r.owned(path, info); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return real, r.Folder(filepath.Dir(real))
}

// file judges the file itself.
func (r Rule) file(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return &Error{path, "is not a regular file", "put the file itself there, or remove it"}
	case info.Size() > r.Most:
		return r.tooLong(path)
	case r.Private:
		if err := r.secret(path, info); err != nil {
			return err
		}
	}
	return r.entry(path, info)
}

func (r Rule) tooLong(path string) error {
	return &Error{path, fmt.Sprintf("has more than %d KiB", r.Most>>10), "make it shorter, or remove it"}
}
