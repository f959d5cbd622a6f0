package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"adze/internal/osfile/filelock"
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
		if !sweep(name(dir, n)) {
			break // a lone writer takes the first name, so nearly each file that is left lies before a gap
		}
	}
	sweep(name(dir, rand.IntN(names))) // a later write meets one behind a gap
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

// sweep removes a file that nobody writes any more, and reports whether there was one of the name.
func sweep(name string) bool {
	f, err := openOld(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if filelock.TryFile(f) == nil && isAt(f, name) {
		_ = os.Remove(name) // a left one takes room, and nothing else
	}
	return true
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
