package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/files/workspace"
)

// Finder looks for what is carried into a folder. The zero value finds nothing. It is used by one
// goroutine, and closed. It looks once for each assistant's folder: who wants to see one that came
// later makes another Finder.
type Finder struct {
	Own  string // adze's folder of the user; if empty, none
	Home string // the user's home; if empty, none
	Dir  string // the folder that is worked in; if empty, no project is looked at
	Top  string // the root of its repository, which no link leads out of; if empty, Dir

	roots map[string]*workspace.Root
	lacks map[string]bool // folders of assistants: whether they are missing
}

// For is a finder for a user and a folder; own is adze's folder of the user, and home their home.
func For(own, home, dir string) *Finder {
	f := &Finder{Own: own, Home: home, Dir: dir, Top: dir}
	if real, err := filepath.EvalSymlinks(home); err == nil && home != "" {
		f.Home = real
	}
	if top, ok := Repository(dir); ok {
		f.Top = top
	}
	return f
}

// Repository finds the folder that holds .git, upwards from dir. It looks at names only and runs
// nothing.
func Repository(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// Close lets go of the folders.
func (f *Finder) Close() {
	for _, r := range f.roots {
		if r != nil {
			r.Close()
		}
	}
	f.roots = nil
}

// root opens a folder once; if nil, it is not there.
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

// missing reports that an assistant's folder is not there; it is looked for once for all kinds.
func (f *Finder) missing(dir string) bool {
	if f.lacks == nil {
		f.lacks = map[string]bool{}
	}
	if _, known := f.lacks[dir]; !known {
		_, err := os.Lstat(dir)
		f.lacks[dir] = errors.Is(err, fs.ErrNotExist)
	}
	return f.lacks[dir]
}
