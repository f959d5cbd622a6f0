package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/files/workspace"
)

// A Finder searches a folder's files for assistants. The zero value finds nothing. It must be
// closed and is not safe for concurrent use. It checks each assistant's folder once: use a new
// Finder to see later ones.
type Finder struct {
	AdzeDir string // the user's adze folder, or ""
	Home    string // user's home, or ""
	Dir     string // current folder; "" to skip projects
	Top     string // repository root, which links must not leave; "" for Dir

	roots       map[string]*workspace.Root
	missingDirs map[string]bool // assistants' folders, true if missing
}

// For returns a Finder for a user's adze folder (own), their home and the current folder.
func For(own, home, dir string) *Finder {
	f := &Finder{AdzeDir: own, Home: home, Dir: dir}
	if real, err := filepath.EvalSymlinks(home); err == nil && home != "" {
		f.Home = real
	}
	f.Top, _ = Repository(dir)
	return f
}

// Repository returns dir or its closest parent with .git or .jj, and whether it has .git. Without
// one, it returns dir. It runs nothing.
func Repository(dir string) (top string, git bool) {
	for at := dir; ; at = filepath.Dir(at) {
		_, err := os.Lstat(filepath.Join(at, ".git"))
		if _, jj := os.Lstat(filepath.Join(at, ".jj")); err == nil || jj == nil {
			return at, err == nil
		}
		if at == filepath.Dir(at) {
			return dir, false
		}
	}
}

// Close closes the folders.
func (f *Finder) Close() {
	for _, r := range f.roots {
		if r != nil {
			r.Close()
		}
	}
	f.roots = nil
}

// root opens a folder once. It returns nil if it does not exist.
func (f *Finder) root(dir string) *workspace.Root {
	if r, known := f.roots[dir]; known || dir == "" {
		return r
	}
	if f.roots == nil {
		f.roots = map[string]*workspace.Root{}
	}
	r, err := workspace.Open(dir)
	if err != nil {
		r = nil
	}
	f.roots[dir] = r
	return r
}

// missing reports whether an assistant's folder does not exist, checked once for all kinds.
func (f *Finder) missing(dir string) bool {
	if f.missingDirs == nil {
		f.missingDirs = map[string]bool{}
	}
	if _, known := f.missingDirs[dir]; !known {
		_, err := os.Lstat(dir)
		f.missingDirs[dir] = errors.Is(err, fs.ErrNotExist)
	}
	return f.missingDirs[dir]
}
