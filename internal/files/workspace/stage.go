package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// stage is a folder that stands for the root's for a while: a view of it, in which what is changed
// stays apart.
type stage struct {
	folder *os.File

	mu   sync.RWMutex
	top  Dir
	over bool // top is closed
}

// ErrUnstaged says that the files of a root cannot be looked at in another folder, or not any more.
var ErrUnstaged = errors.New("the files are not looked at on a view")

// Stage has everything below the root looked at and changed in another open folder, which shows the
// same files; paths stay as they are. The folder stays the caller's and must be open until Unstage.
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

// Staged is the folder that stands for the root's; if nil, none does.
func (r *Root) Staged() *os.File {
	if s := r.staged.Load(); s != nil {
		return s.folder
	}
	return nil
}

// At is where a path below the root is to be opened by its name.
func (r *Root) At(abs string) string { return r.at(abs) }

func (r *Root) at(abs string) string {
	s := r.staged.Load()
	if s == nil {
		return abs
	}
	rel, inside := below(r.dir, abs)
	if !inside {
		return abs
	}
	return filepath.Join(byDescriptor(s.folder), filepath.FromSlash(rel))
}

func (r *Root) lstat(path string) (fs.FileInfo, error) { return os.Lstat(r.at(path)) }

// openTop opens the folder that everything inside is reached from at present. It is not closed
// meanwhile.
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

// topInfo tells about that folder.
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
