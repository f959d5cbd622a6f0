package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"adze/internal/files/filelock"
)

// The files of a folder that are not complete have a few names, so that one look finds what was
// left; each is locked by who writes it, and the system takes the lock from a process that dies.
const (
	prefix = ".adze-new-"
	names  = 16
)

func name(dir string, n int) string { return filepath.Join(dir, prefix+strconv.Itoa(n)) }

// unfinished makes an empty file that is ours while it is open. What others left is removed.
func unfinished(dir string) (*os.File, error) {
	for n := range names {
		sweep(name(dir, n))
	}
	for n := range names {
		f, err := openNew(name(dir, n))
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, err
		}
		if !errors.Is(filelock.TryFile(f), filelock.ErrHeld) && isAt(f, f.Name()) { // else a sweep came between
			return f, nil
		}
		_ = f.Close()
	}
	return os.CreateTemp(dir, prefix+"*")
}

// sweep removes a file that nobody writes any more.
func sweep(name string) {
	f, err := openOld(name)
	if err != nil {
		return
	}
	defer f.Close()
	if filelock.TryFile(f) == nil && isAt(f, name) {
		_ = os.Remove(name) // a left one takes room, and nothing else
	}
}

// isAt reports whether the name is still that of the file.
func isAt(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}
