package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

// Changes reads the upper folders and returns one Merged change for each root. An unchanged root
// has no children.
func (v *View) Changes() ([]*Change, error) {
	var out []*Change
	v.opened, v.shut, v.unclaimed, v.vanished = nil, nil, false, false
	for i := range v.Roots {
		top := &Change{Root: i, Kind: apply.Merged}
		var err error
		if top.Upper, err = entry.StatAt(unix.AT_FDCWD, v.UpperFolder(i)); err != nil {
			return nil, err
		}
		if top.Lower, err = entry.StatAt(v.Tops[i], ""); err != nil {
			return nil, err
		}
		if !v.Roots[i].Discarded {
			if err := v.read(top, v.Tops[i]); err != nil {
				return nil, err
			}
		}
		if err := v.findOrigins(top); err != nil {
			return nil, err
		}
		out = append(out, top)
	}
	return out, nil
}

// read adds a folder's children. lower is the folder below it, or -1 if there is none or it is
// hidden.
func (v *View) read(dir *Change, lower int) error {
	at := v.Place(dir)
	if err := entry.OpenFolder(at, dir.Upper); err != nil {
		return err
	}
	fd, err := unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: at, Err: err}
	}
	defer unix.Close(fd)
	names, err := entry.Names(fd)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		c := &Change{Root: dir.Root, Path: filepath.Join(dir.Path, name), Parent: dir}
		if c.Upper, err = entry.StatAt(fd, name); err != nil {
			return err
		}
		if lower >= 0 {
			c.Lower, err = entry.StatAt(lower, name)
			switch {
			case errors.Is(err, fs.ErrPermission):
				c.SkipReason = apply.WhyUnreadable
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return err
			}
		}
		if err := v.classify(c, name, lower); err != nil {
			return err
		}
		if c.Kind != 0 {
			dir.Children = append(dir.Children, c)
		}
	}
	return nil
}

// classify determines a change's kind and reads its children. If nothing has changed, Kind stays 0.
func (v *View) classify(c *Change, name string, lower int) error {
	at := v.Place(c)
	var err error
	switch {
	case c.Upper.HasType(unix.S_IFCHR) && entry.IsWhiteout(at):
		switch {
		case lower < 0:
			return os.Remove(at) // it hides nothing
		case slices.Contains(v.Roots[c.Root].Hidden, c.Path): // placed there before the command
		case c.Lower.Exists():
			c.Kind = apply.Removed
			return v.readRemoved(c, name, lower)
		default:
			v.vanished = true
		}
	case c.Upper.HasType(unix.S_IFREG):
		c.Kind, c.Copied = apply.File, entry.HasOrigin(at)
		return errors.Join(v.readRemoved(c, name, lower), v.compare(c, name, lower))
	case c.Upper.HasType(unix.S_IFLNK):
		c.Kind = apply.Link
		if c.Target, err = os.Readlink(at); err != nil {
			return err
		}
		if c.Lower.HasType(unix.S_IFLNK) {
			buf := make([]byte, unix.PathMax)
			n, err := unix.Readlinkat(lower, name, buf)
			if err == nil && string(buf[:n]) == c.Target && c.Upper.Modified == c.Lower.Modified && entry.SameOwner(c.Upper, c.Lower) {
				c.Kind = 0
			}
		}
		return v.readRemoved(c, name, lower)
	case c.Upper.IsFolder():
		return v.classifyFolder(c, name, lower)
	default:
		c.Kind = apply.Special
	}
	return nil
}

// marks reports whether the kernel marks a copy of the file, which it does for files with a single
// name. A newer file may have got its other names from somebody else meanwhile.
func (v *View) marks(s entry.Stat) bool { return s.Links < 2 || v.Newer(s) }

// own reports whether the change is a copy of the file at its path.
func (v *View) own(c *Change) bool { return c.Copied && c.Lower.IsFile() && v.marks(c.Lower) }

// compare compares a file with the one below it. An identical file counts as unchanged, even if the
// kernel copied it.
func (v *View) compare(c *Change, name string, lower int) error {
	if !c.Lower.IsFile() || !c.Copied && c.Lower.Links < 2 {
		return nil
	}
	err := v.open2(c, lower, name, func(ours, there *os.File) (err error) {
		c.Content, err = entry.CompareContent(ours, there, c.Upper.Size, c.Lower.Size)
		c.attributes = entry.SameAttributes(int(ours.Fd()), int(there.Fd()))
		return err
	})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		c.SkipReason = apply.WhyUnreadable
		return nil
	}
	if err != nil {
		return err
	}
	if c.Content == entry.Same && c.attributes && c.Upper.Modified == c.Lower.Modified && entry.SameOwner(c.Upper, c.Lower) {
		c.Kind, c.Copied = 0, true
		v.opened = append(v.opened, c)
	}
	return nil
}

// written reports whether a copied file was written to after copying, which preserves the
// modification time.
func (c *Change) written() bool { return !entry.Later(c.Upper.Born, c.Upper.Modified) }

// open2 opens the command's file and the one below it.
func (v *View) open2(c *Change, lower int, name string, do func(ours, there *os.File) error) error {
	ours, err := entry.OpenOwn(v.Place(c), c.Upper)
	if err != nil {
		return err
	}
	defer ours.Close()
	fd, err := unix.Openat(lower, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	there := os.NewFile(uintptr(fd), name)
	defer there.Close()
	return do(ours, there)
}

func (v *View) classifyFolder(c *Change, name string, lower int) error {
	at := v.Place(c)
	if err := entry.OpenFolder(at, c.Upper); err != nil { // otherwise its attributes are unreadable
		return err
	}
	opaque := entry.IsOpaque(at)
	if opaque && lower >= 0 && c.Lower.IsFolder() && entry.Later(c.Lower.Born, v.ViewTime) {
		opaque = false // created on both sides
	}
	if opaque || !c.Lower.IsFolder() {
		c.Kind = apply.New
		if c.Upper.Mode&0o700 != 0o700 {
			v.shut = append(v.shut, c)
		}
		return errors.Join(v.readRemoved(c, name, lower), v.read(c, -1))
	}
	c.Kind, c.Copied = apply.Merged, entry.HasOrigin(at)
	below, err := entry.OpenBeneath(lower, name)
	if err != nil {
		return err
	}
	defer unix.Close(below)
	c.attributes = !c.Copied || v.dressedAs(c, below)
	if err := v.read(c, below); err != nil {
		return err
	}
	if len(c.Children) == 0 && !v.dressed(c) {
		c.Kind = 0
	}
	return nil
}

func (v *View) dressedAs(c *Change, other int) bool {
	fd, err := unix.Open(v.Place(c), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return entry.SameAttributes(fd, other)
}

// dressed reports whether the command set the folder's own mode, owner, attributes or time. New
// children set the time too, but to one after the view's start.
func (v *View) dressed(c *Change) bool {
	return !entry.SameOwner(c.Upper, c.Lower) || !c.attributes || c.Copied && (c.Upper.Modified != c.Lower.Modified && !entry.Later(c.Upper.Modified, v.ViewTime))
}

// redressed reports whether somebody else changed the folder's attributes last. If its names
// changed last, both times are equal.
func (v *View) redressed(c *Change) bool {
	return v.Newer(c.Lower) && c.Lower.Changed != c.Lower.Modified
}

// readRemoved gives a folder that goes away its newest entry's change time.
func (v *View) readRemoved(c *Change, name string, lower int) error {
	if !c.Lower.IsFolder() {
		return nil
	}
	fd, err := entry.OpenBeneath(lower, name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	newest, err := entry.NewestIn(fd)
	if errors.Is(err, fs.ErrPermission) {
		c.SkipReason = apply.WhyUnreadable
		return nil
	}
	if err != nil {
		return err
	}
	if entry.Later(newest, c.Lower.Changed) {
		c.Lower.Changed = newest
	}
	return nil
}
