package undo

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"adze/internal/undo/pack"
)

// errOwner means everything but the owner was restored.
var errOwner = errors.New("its owner cannot be put back")

// applier runs a plan's steps. A killed process may have done any of them in full or in part, so
// the files on disk decide and never a record. A failed path is left alone from then on.
type applier struct {
	w      *Workspace
	root   folder
	id     string
	failed map[string]string // path → reason
	lacks  map[string]string // restored path → aspect that could not be restored
}

// errChanged means an unexpected entry is at the path.
var errChanged = errors.New(refusedChanged)

// run runs the steps in a safe order: unlock folders, remove from the leaves up, create from the
// root down, set folder modes last.
func (a *applier) run(steps []Step) {
	down := slices.Clone(steps)
	slices.SortFunc(down, func(x, y Step) int { return strings.Compare(x.place(), y.place()) })
	up := slices.Clone(down)
	slices.Reverse(up)
	a.each(down, unlockFolder, func(s Step) bool { return s.From.Kind == Folder })
	a.each(up, removeFile, func(s Step) bool { return s.From.leaf() && !s.To.leaf() })
	a.each(up, removeFolder, func(s Step) bool { return s.From.Kind == Folder && s.To.Kind == Absent })
	a.each(down, place, func(s Step) bool { return s.To.Kind != Absent })
	a.each(up, lockFolder, func(s Step) bool { return s.To.Kind == Folder })
}

// place returns the sort key of a step: the root comes before its entries.
func (s Step) place() string {
	if s.Path == rootPath {
		return ""
	}
	return s.Path
}

func (e Entry) leaf() bool { return e.Kind == File || e.Kind == Symlink }

// spot is a step's location: the open folder, the name in it, and the temporary name.
type spot struct {
	*applier
	Step
	folder folder
	name   string
	temp   string
}

func (a *applier) each(steps []Step, do func(spot) error, when func(Step) bool) {
	for _, s := range steps {
		if a.failed[s.Path] != "" || !when(s) {
			continue
		}
		if err := a.one(s, do); err != nil {
			a.failed[s.Path] = err.Error()
		}
	}
}

func (a *applier) one(s Step, do func(spot) error) error {
	at, err := a.root.beneath(parentOf(s.Path))
	if err != nil {
		// A folder that is gone or replaced has no entries to remove.
		gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
		if s.To.Kind == Absent && gone {
			return nil
		}
		return err
	}
	defer at.close()
	name := path.Base(s.Path)
	sum := pack.Sum([]byte(s.Path))
	return do(spot{a, s, at, name, tempPrefix + a.id + "-" + sum.String()[:16]})
}

// reread reads the entry at a name again.
func (s spot) reread(name string) (Entry, error) { return s.folder.look(name) }

func (f folder) look(name string) (Entry, error) {
	st, err := f.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Entry{}, nil
	case err != nil:
		return Entry{}, err
	case st.isFolder():
		return f.lookFolder(name, st)
	case st.isLink():
		return Entry{Kind: Symlink, Target: f.readLink(name)}, nil
	case !st.isFile():
		return Entry{Kind: LeftOut}, nil
	}
	if st.size > inMemory {
		return Entry{Kind: LeftOut, Target: leftLarge}, nil
	}
	c, err := f.readFile(name, pack.MaxContent, nil)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Kind: File, Mode: c.stat.mode & 0o7777, Size: int64(len(c.bytes)), Hash: pack.Sum(c.bytes), Attrs: c.attrs}, nil
}

// inMemory is the largest file read into memory, in bytes.
const inMemory = 64 << 20

func (f folder) lookFolder(name string, st stat) (Entry, error) {
	e := Entry{Kind: Folder, Mode: st.mode & 0o7777}
	at, err := f.openFolder(name)
	if errors.Is(err, fs.ErrPermission) {
		return e, nil // unreadable; its mode is known
	}
	if err != nil {
		return Entry{}, err
	}
	defer at.close()
	e.Attrs = attrsOf(at.fd)
	return e, nil
}

// butOwner records an owner that cannot be restored and drops the error.
func (s spot) butOwner(err error) error {
	if !errors.Is(err, errOwner) {
		return err
	}
	s.lacks[s.Path] = "it is put back, but " + err.Error()
	return nil
}

// open returns a folder's mode while its content is being restored.
func (s spot) open() uint32 {
	if s.To.Kind == Folder {
		return s.To.Mode | 0o700
	}
	return s.From.Mode | 0o700
}

// unlockFolder makes a folder writable for its owner.
func unlockFolder(s spot) error {
	now, err := s.reread(s.name)
	if err != nil || now.Kind != Folder || now.Mode != s.From.Mode || now.Mode == s.open() {
		return err
	}
	s.w.moment()
	return s.folder.chmod(s.name, s.open())
}

func lockFolder(s spot) error {
	now, err := s.reread(s.name)
	if err != nil {
		return err
	}
	made := s.From.Kind != Folder && (now.Mode == 0o700 || now.Mode == s.To.Mode)
	ours := now.Mode == s.open() || now.Mode == s.From.Mode || now.Mode == s.To.Mode
	switch {
	case now.Kind != Folder:
		return errChanged
	case now.equal(s.To):
		return nil
	case made, ours && (now.Attrs == s.From.Attrs || now.Attrs == s.To.Attrs || s.lacks[s.Path] != ""):
		s.w.moment()
		return s.butOwner(s.folder.dress(s.name, s.To.Mode, s.To.Attrs))
	}
	return errChanged
}

func removeFolder(s spot) error {
	now, err := s.reread(s.name)
	if err != nil || now.Kind != Folder {
		return err
	}
	s.w.moment()
	if err := s.folder.removeFolder(s.name); err != nil {
		if now.Mode == s.open() && now.Mode != s.From.Mode {
			err = s.folder.chmod(s.name, s.From.Mode)
		}
		return errors.Join(errors.New(refusedNotEmpty), err)
	}
	return nil
}

// removeFile removes an expected file or link. It moves it aside first and checks it there, where
// nobody changes it by its name.
func removeFile(s spot) error {
	aside, err := s.reread(s.temp)
	if err != nil {
		return err
	}
	if aside.Kind == Absent {
		now, err := s.reread(s.name)
		switch {
		case err != nil:
			return err
		case now.Kind == Absent, now.Kind == s.To.Kind:
			return nil
		case !now.equal(s.From):
			return errChanged
		}
		s.w.moment()
		if err := s.folder.move(s.name, s.temp); err != nil {
			return err
		}
		s.w.moment()
		if aside, err = s.reread(s.temp); err != nil {
			return err
		}
	}
	if !aside.equal(s.From) {
		return s.giveBack()
	}
	return s.folder.remove(s.temp)
}

// giveBack returns an entry that was moved aside but is somebody else's.
func (s spot) giveBack() error {
	if err := s.folder.move(s.temp, s.name); err != nil {
		return errors.New(refusedChanged + "; what stood there is now " + path.Join(parentOf(s.Path), s.temp))
	}
	return errChanged
}
