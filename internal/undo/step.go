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

// errOwner means that everything is put back but the owner.
var errOwner = errors.New("its owner cannot be put back")

// applier does the steps of a plan. Each may be done already, wholly or in part, by a process that
// was killed: what is there decides, and never a memory of it. A path that fails is left alone from
// then on.
type applier struct {
	w      *Workspace
	root   folder
	id     string
	failed map[string]string // path → reason
	lacks  map[string]string // path that is put back → what of it is not as it was
}

// errChanged means that something else stands there than was expected.
var errChanged = errors.New(refusedChanged)

// run goes through the steps in an order in which everything has its place: folders are opened,
// what must go goes from the leaves up, what comes comes from the root down, and the modes of
// folders come last.
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

// place is what steps are ordered by: the root comes before what is in it.
func (s Step) place() string {
	if s.Path == rootPath {
		return ""
	}
	return s.Path
}

// leaf reports whether an entry is a file or a link.
func (e Entry) leaf() bool { return e.Kind == File || e.Kind == Symlink }

// spot is a step at its place: the open folder, the name in it, and the name for what is not
// finished.
type spot struct {
	*applier
	Step
	at   folder
	name string
	temp string
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
		// A folder that is gone, or is no folder any more, has nothing in it that must go.
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

// now is what stands at a name, read anew.
func (s spot) now(name string) (Entry, error) { return s.at.look(name) }

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

// inMemory is the size up to which a file is read as a whole, in bytes.
const inMemory = 64 << 20

func (f folder) lookFolder(name string, st stat) (Entry, error) {
	e := Entry{Kind: Folder, Mode: st.mode & 0o7777}
	at, err := f.openFolder(name)
	if errors.Is(err, fs.ErrPermission) {
		return e, nil // nobody may look; its mode is known
	}
	if err != nil {
		return Entry{}, err
	}
	defer at.close()
	e.Attrs = attrsOf(at.fd)
	return e, nil
}

// butOwner notes an owner that cannot be put back: that is no reason to leave the rest.
func (s spot) butOwner(err error) error {
	if !errors.Is(err, errOwner) {
		return err
	}
	s.lacks[s.Path] = "it is put back, but " + err.Error()
	return nil
}

// open is the mode of a folder while its content is put back.
func (s spot) open() uint32 {
	if s.To.Kind == Folder {
		return s.To.Mode | 0o700
	}
	return s.From.Mode | 0o700
}

// unlockFolder lets its owner write in a folder.
func unlockFolder(s spot) error {
	now, err := s.now(s.name)
	if err != nil || now.Kind != Folder || now.Mode != s.From.Mode || now.Mode == s.open() {
		return err
	}
	s.w.moment()
	return s.at.chmod(s.name, s.open())
}

// lockFolder gives a folder its mode.
func lockFolder(s spot) error {
	now, err := s.now(s.name)
	if err != nil {
		return err
	}
	made := s.From.Kind != Folder && (now.Mode == 0o700 || now.Mode == s.To.Mode)
	ours := now.Mode == s.open() || now.Mode == s.From.Mode || now.Mode == s.To.Mode
	switch {
	case now.Kind != Folder:
		return errChanged
	case now.alike(s.To):
		return nil
	case made, ours && (now.Attrs == s.From.Attrs || now.Attrs == s.To.Attrs || s.lacks[s.Path] != ""):
		s.w.moment()
		return s.butOwner(s.at.dress(s.name, s.To.Mode, s.To.Attrs))
	}
	return errChanged
}

// removeFolder removes a folder when nothing is in it.
func removeFolder(s spot) error {
	now, err := s.now(s.name)
	if err != nil || now.Kind != Folder {
		return err
	}
	s.w.moment()
	if err := s.at.removeFolder(s.name); err != nil {
		if now.Mode == s.open() && now.Mode != s.From.Mode {
			err = s.at.chmod(s.name, s.From.Mode)
		}
		return errors.Join(errors.New(refusedNotEmpty), err)
	}
	return nil
}

// removeFile removes a file or link that is what was expected: it is moved aside first and looked
// at there, where nobody changes it by its name.
func removeFile(s spot) error {
	aside, err := s.now(s.temp)
	if err != nil {
		return err
	}
	if aside.Kind == Absent {
		now, err := s.now(s.name)
		switch {
		case err != nil:
			return err
		case now.Kind == Absent, now.Kind == s.To.Kind:
			return nil
		case !now.alike(s.From):
			return errChanged
		}
		s.w.moment()
		if err := s.at.move(s.name, s.temp); err != nil {
			return err
		}
		s.w.moment()
		if aside, err = s.now(s.temp); err != nil {
			return err
		}
	}
	if !aside.alike(s.From) {
		return s.giveBack()
	}
	return s.at.remove(s.temp)
}

// giveBack returns what was moved aside and turned out to be somebody else's.
func (s spot) giveBack() error {
	if err := s.at.move(s.temp, s.name); err != nil {
		return errors.New(refusedChanged + "; what stood there is now " + path.Join(parentOf(s.Path), s.temp))
	}
	return errChanged
}
