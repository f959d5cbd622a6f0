package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// stage is a folder that temporarily replaces the root's: a view of it that keeps changes apart.
type stage struct {
	folder *os.File

	mu   sync.RWMutex
	top  Dir
	over bool
}

// ErrUnstaged means that the root's files cannot, or can no longer, be accessed through another
// folder.
var ErrUnstaged = errors.New("the files are not looked at on a view")

// Stage redirects all access below the root to another open folder, which shows the same files;
// paths stay the same. The caller owns the folder and must keep it open until Unstage.
func (r *Root) Stage(folder *os.File) error {
	if _, plain := r.fs.(Disk); !plain {
		return ErrUnstaged
	}
	top, err := dirOf(folder)
	if err != nil {
		return wrap(err, r.dir, "open the view of")
	}
	r.staged.Store(&stage{folder: folder, top: top})
	return nil
}

// Unstage ends Stage.
func (r *Root) Unstage() {
	if s := r.staged.Swap(nil); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = true
		_ = s.top.Close()
	}
}

// Staged returns the folder passed to Stage, or nil.
func (r *Root) Staged() *os.File {
	if s := r.staged.Load(); s != nil {
		return s.folder
	}
	return nil
}

// OpenPath returns the path under which to open a path below the root.
func (r *Root) OpenPath(abs string) string { return r.at(abs) }

func (r *Root) at(abs string) string {
	s := r.staged.Load()
	if s == nil {
		return abs
	}
	rel, inside := relativeTo(r.dir, abs)
	if !inside {
		return abs
	}
	return filepath.Join(byDescriptor(s.folder), filepath.FromSlash(rel))
}

func (r *Root) lstat(path string) (fs.FileInfo, error) { return os.Lstat(r.at(path)) }

// openTop returns the folder from which everything inside is opened. It stays open during use.
func (r *Root) openTop() (Dir, error) {
	if s := r.staged.Load(); s != nil {
		s.mu.RLock()
		defer s.mu.RUnlock()
		if s.over {
			return nil, ErrUnstaged
		}
		return s.top.OpenDir(".")
	}
	return r.top.OpenDir(".")
}

func (r *Root) topInfo() (Info, error) {
	if r.staged.Load() == nil {
		return r.top.Info()
	}
	top, err := r.openTop()
	if err != nil {
		return Info{}, err
	}
	defer top.Close()
	return top.Info()
}
