// Package ownfile reads the files that adze trusts: configuration, hooks, consents, keys, the
// machine owner's settings, and user texts that become instructions.
//
// The one rule: such a file, its folder and, for a link, also the link and the target's folder
// belong to the user or root, and nobody else can write them, apart from the user's private group.
// Whoever can write such a file can run programs in the user's name.
//
// Start reading at Rule.Read. Known limits: folders further up are not checked, and access control
// lists only as far as the mode reflects them.
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

// Rule describes the trusted files.
type Rule struct {
	Owner   int   // trusted user besides root
	MaxSize int64 // size limit in bytes
	Private bool  // others must not be able to read it either
	NoLink  bool
}

// Mine returns the rule for files of the user who runs adze.
func Mine(most int64) Rule { return Rule{Owner: os.Geteuid(), MaxSize: most} }

// Error means that a file is not trusted.
type Error struct{ Path, Reason, Hint string }

// Error returns the message.
func (e *Error) Error() string { return e.Path + " " + e.Reason }

// ReasonAfter returns the reason to show after path, which the caller asked for; it names the
// offending file if that is another.
func (e *Error) ReasonAfter(path string) string {
	if e.Path == path {
		return e.Reason
	}
	return e.Error()
}

// Next returns the next step.
func (e *Error) Next() string { return e.Hint }

// Read reads a file without ever blocking. The error is fs.ErrNotExist for a missing file and
// *Error for an untrusted one.
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
	raw, err := io.ReadAll(io.LimitReader(f, r.MaxSize+1))
	if err == nil && int64(len(raw)) > r.MaxSize {
		err = r.tooLong(real)
	}
	return raw, err
}

// Check is Read without reading the content.
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

// Folder checks a folder for adze's own files; a missing one is fine.
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

// OwnFolder is Folder for adze's own folder, which must not be a link: whoever can write the link's
// parent could substitute another folder.
func (r Rule) OwnFolder(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return &Error{path, "is a link", "put the folder itself there, or name the real one with ADZE_HOME; files in it may be links"}
	}
	return r.Folder(path)
}

// way checks the path to a file and returns its real location.
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

func (r Rule) file(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return &Error{path, "is not a regular file", "put the file itself there, or remove it"}
	case info.Size() > r.MaxSize:
		return r.tooLong(path)
	case r.Private:
		if err := r.secret(path, info); err != nil {
			return err
		}
	}
	return r.entry(path, info)
}

func (r Rule) tooLong(path string) error {
	return &Error{path, fmt.Sprintf("has more than %d KiB", r.MaxSize>>10), "make it shorter, or remove it"}
}
