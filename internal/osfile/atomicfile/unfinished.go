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

// Incomplete files in a folder have one of a few names, so that leftovers are found quickly. Each
// is locked by its writer; the system releases a dead process's lock.
const (
	prefix = ".adze-new-"
	names  = 16
)

func name(dir string, n int) string { return filepath.Join(dir, prefix+strconv.Itoa(n)) }

// unfinished creates an empty file owned by this process while open, and removes leftovers.
func unfinished(dir string) (*os.File, error) {
	for n := range names {
		if !sweep(name(dir, n)) {
			break // a lone writer takes the first name, so nearly all leftovers precede a gap
		}
	}
	sweep(name(dir, rand.IntN(names))) // later writes find those after a gap
	for n := range names {
		f, err := openNew(name(dir, n))
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, err
		}
		if !errors.Is(filelock.TryFile(f), filelock.ErrHeld) && isAt(f, f.Name()) { // otherwise a sweep removed it
			return f, nil
		}
		_ = f.Close()
	}
	return os.CreateTemp(dir, prefix+"*")
}

// sweep removes an abandoned file and reports whether the name existed.
func sweep(name string) bool {
	f, err := openOld(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if filelock.TryFile(f) == nil && isAt(f, name) {
		_ = os.Remove(name) // a leftover only takes space
	}
	return true
}

func isAt(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}
