package overlay

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// Changes reads what was changed: one change for each root, of kind Merged. A root in which nothing
// was changed has no children.
func (v *View) Changes() ([]*Change, error) {
	var out []*Change
	v.opened, v.shut, v.unclaimed, v.vanished = nil, nil, false, false
	for i := range v.roots {
		top := &Change{Root: i, Kind: Merged}
		var err error
		if top.Upper, err = statAt(unix.AT_FDCWD, v.upper(i)); err != nil {
			return nil, err
		}
		if top.Lower, err = statAt(v.tops[i], ""); err != nil {
			return nil, err
		}
		if !v.roots[i].Discarded {
			if err := v.read(top, v.tops[i]); err != nil {
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

// read adds the children of a folder. lower is the folder below it; if -1, there is none, or it is
// hidden.
func (v *View) read(dir *Change, lower int) error {
	at := v.Place(dir)
	if err := openFolder(at, dir.Upper); err != nil {
		return err
	}
	fd, err := unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: at, Err: err}
	}
	defer unix.Close(fd)
	names, err := entries(fd)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		c := &Change{Root: dir.Root, Path: filepath.Join(dir.Path, name), Parent: dir}
		if c.Upper, err = statAt(fd, name); err != nil {
			return err
		}
		if lower >= 0 {
			c.Lower, err = statAt(lower, name)
			switch {
			case errors.Is(err, fs.ErrPermission):
				c.Left = WhyUnreadable
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

// classify finds out what a change is, and reads what is below it. Its Kind stays 0 where nothing
// has changed.
func (v *View) classify(c *Change, name string, lower int) error {
	at := v.Place(c)
	var err error
	switch {
	case c.Upper.is(unix.S_IFCHR) && isWhiteout(at):
		switch {
		case lower < 0:
			return os.Remove(at) // it hides nothing
		case slices.Contains(v.roots[c.Root].Hidden, c.Path): // it was put there before the command
		case c.Lower.There():
			c.Kind = Removed
			return v.readRemoved(c, name, lower)
		default:
			v.vanished = true
		}
	case c.Upper.is(unix.S_IFREG):
		c.Kind, c.Copied = File, hasOrigin(at)
		if err := v.readRemoved(c, name, lower); err != nil {
			return err
		}
		return v.compare(c, name, lower)
	case c.Upper.is(unix.S_IFLNK):
		c.Kind = Link
		if err := v.readRemoved(c, name, lower); err != nil {
			return err
		}
		if c.Target, err = os.Readlink(at); err != nil {
			return err
		}
		if c.Lower.is(unix.S_IFLNK) {
			buf := make([]byte, unix.PathMax)
			n, err := unix.Readlinkat(lower, name, buf)
			if err == nil && string(buf[:n]) == c.Target && c.Upper.Modified == c.Lower.Modified && sameOwner(c.Upper, c.Lower) {
				c.Kind = 0
			}
		}
	case c.Upper.IsFolder():
		return v.classifyFolder(c, name, lower)
	default:
		c.Kind = Special
	}
	return nil
}

// marks reports that the kernel marks the copy of a file: it marks none that has several names. One
// to which somebody else gave them meanwhile had one.
func (v *View) marks(s Stat) bool { return s.Links < 2 || v.Newer(s) }

// own reports a copy of the file that is at its place.
func (v *View) own(c *Change) bool { return c.Copied && c.Lower.IsFile() && v.marks(c.Lower) }

// compare finds out how a file differs from the one below it. One that is the same in all has not
// been changed, whether or not the kernel says that it was copied.
func (v *View) compare(c *Change, name string, lower int) error {
	if !c.Lower.IsFile() || !c.Copied && c.Lower.Links < 2 {
		return nil
	}
	err := v.open2(c, lower, name, func(ours, there *os.File) (err error) {
		c.Content, c.fork, err = compareContent(ours, there, c.Upper.Size, c.Lower.Size)
		c.attributes = sameAttributes(int(ours.Fd()), int(there.Fd()))
		return err
	})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		c.Left = WhyUnreadable
		return nil
	}
	if err != nil {
		return err
	}
	if c.Content == Same && c.attributes && c.Upper.Modified == c.Lower.Modified && sameOwner(c.Upper, c.Lower) {
		c.Kind, c.Copied = 0, true
		v.opened = append(v.opened, c)
	}
	return nil
}

// written reports that a copied file was written to since it was copied: that took over the time of
// the one below.
func (c *Change) written() bool { return !later(c.Upper.Born, c.Upper.Modified) }

// open2 opens a file of ours and the one below it.
func (v *View) open2(c *Change, lower int, name string, do func(ours, there *os.File) error) error {
	ours, err := openOurs(v.Place(c), c.Upper)
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

// openOurs opens a file of ours, also one whose reading the command forbade.
func openOurs(path string, st Stat) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		if err = unix.Chmod(path, st.Mode&0o7777|0o400); err == nil {
			f, err = os.Open(path)
			err = errors.Join(err, unix.Chmod(path, st.Mode&0o7777))
		}
	}
	return f, err
}

func sameOwner(a, b Stat) bool { return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID }

func (v *View) classifyFolder(c *Change, name string, lower int) error {
	at := v.Place(c)
	if err := openFolder(at, c.Upper); err != nil { // else its attributes cannot be read
		return err
	}
	opaque, err := isOpaque(at)
	if err != nil {
		return err
	}
	if opaque && lower >= 0 && c.Lower.IsFolder() && later(c.Lower.Born, v.since) {
		opaque = false // both made it
	}
	if opaque || !c.Lower.IsFolder() {
		c.Kind = New
		if c.Upper.Mode&0o700 != 0o700 {
			v.shut = append(v.shut, c)
		}
		if c.Lower.There() {
			if err := v.readRemoved(c, name, lower); err != nil {
				return err
			}
		}
		return v.read(c, -1)
	}
	c.Kind, c.Copied = Merged, hasOrigin(at)
	below, err := openBeneath(lower, name)
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

// dressedAs reports that a folder of ours has the attributes of another one.
func (v *View) dressedAs(c *Change, other int) bool {
	fd, err := unix.Open(v.Place(c), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return sameAttributes(fd, other)
}

// dressed reports a folder whose own mode, owner, attributes or time the command set. Its time also
// changes with what is in it, but only to a later one than the view's.
func (v *View) dressed(c *Change) bool {
	return !sameOwner(c.Upper, c.Lower) || !c.attributes || c.Copied && (c.Upper.Modified != c.Lower.Modified && !later(c.Upper.Modified, v.since))
}

// readRemoved marks a folder that goes away as newer where anything in it is.
func (v *View) readRemoved(c *Change, name string, lower int) error {
	if !c.Lower.IsFolder() {
		return nil
	}
	fd, err := openBeneath(lower, name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	newest, err := newestIn(fd)
	if errors.Is(err, fs.ErrPermission) {
		c.Left = WhyUnreadable
		return nil
	}
	if err != nil {
		return err
	}
	if later(newest, c.Lower.Changed) {
		c.Lower.Changed = newest
	}
	return nil
}

// newestIn is the latest time at which something in a folder was changed, or a folder made.
func newestIn(fd int) (newest [2]int64, err error) {
	err = eachBelow(fd, func(st Stat) error {
		changed := st.Changed
		if st.IsFolder() && st.Born != [2]int64{} { // names that go from it are no changes of what is left
			changed = st.Born
		}
		if later(changed, newest) {
			newest = changed
		}
		return nil
	})
	return newest, err
}

// eachBelow calls do for all that is below a folder.
func eachBelow(fd int, do func(Stat) error) error {
	names, err := entries(fd)
	if err != nil {
		return err
	}
	for _, name := range names {
		st, err := statAt(fd, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = do(st)
		}
		if err != nil {
			return err
		}
		if !st.IsFolder() {
			continue
		}
		sub, err := openBeneath(fd, name)
		if err != nil {
			return err
		}
		err = eachBelow(sub, do)
		_ = unix.Close(sub)
		if err != nil {
			return err
		}
	}
	return nil
}

// entries are the names in an open folder, also one that was opened by its path alone.
func entries(fd int) ([]string, error) {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "folder")
	defer f.Close()
	return f.Readdirnames(-1)
}

// openFolder gives this user the rights to a folder that the command took away. They are put back
// before it is applied.
func openFolder(at string, st Stat) error {
	if st.Mode&0o700 == 0o700 {
		return nil
	}
	return unix.Chmod(at, st.Mode&0o7777|0o700)
}

func isWhiteout(at string) bool {
	var st unix.Stat_t
	return unix.Lstat(at, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0
}

// overlayAttribute begins the attributes that the kernel sets on entries of upper folders.
const overlayAttribute = "user.overlay."

// isOpaque reports a folder that shows nothing of what lies below it.
func isOpaque(at string) (bool, error) {
	value := make([]byte, 4)
	n, err := unix.Lgetxattr(at, overlayAttribute+"opaque", value)
	if err == unix.ENODATA || err == unix.ENOTSUP || err == unix.ERANGE {
		return false, nil
	}
	return err == nil && string(value[:max(n, 0)]) == "y", err
}

func attributeNames(at string) ([]string, error) {
	buf := make([]byte, 256)
	for {
		n, err := unix.Llistxattr(at, buf)
		switch {
		case err == unix.ERANGE:
			buf = make([]byte, 4*len(buf))
			continue
		case err == unix.EACCES || err == unix.EPERM || err == unix.ENOTSUP:
			return nil, nil
		case err != nil || n == 0:
			return nil, err
		}
		return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00"), nil
	}
}

// bookkeeping reports an attribute by which the kernel or the listener remembers something.
func bookkeeping(name string) bool {
	return strings.HasPrefix(name, overlayAttribute) || name == seccomptrace.Moved
}

// strip removes the attributes that are bookkeeping.
func strip(at string, st Stat) error {
	names, err := attributeNames(at)
	for _, name := range names {
		if !bookkeeping(name) {
			continue
		}
		if e := unix.Lremovexattr(at, name); e == unix.EACCES { // a file that its owner may not write
			err = errors.Join(err, unix.Chmod(at, st.Mode&0o7777|0o600), unix.Lremovexattr(at, name), unix.Chmod(at, st.Mode&0o7777))
		} else {
			err = errors.Join(err, e)
		}
	}
	return err
}

// sameAttributes compares the attributes of two entries, but for the kernel's and our own. Where
// they cannot be read they count as the same.
func sameAttributes(a, b int) bool {
	x, y := attributesOf(a), attributesOf(b)
	return x == nil || y == nil || maps.EqualFunc(x, y, bytes.Equal)
}

// splitNames are the names of attributes, but for the kernel's and our own.
func splitNames(list []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(string(list), "\x00") {
			if name != "" && !bookkeeping(name) && !yield(name) {
				return
			}
		}
	}
}

// hasOrigin reports an entry that the kernel copied up.
func hasOrigin(at string) bool {
	_, err := unix.Lgetxattr(at, overlayAttribute+"origin", nil)
	return err == nil
}

// blockSize is how much of two files is compared at once.
const blockSize = 64 << 10

// compareContent compares a file of ours with the one below. Where both differ behind a common
// beginning, fork is the last line's end in that.
func compareContent(ours, there *os.File, size, below int64) (c Content, fork int64, err error) {
	most, at := min(size, below), int64(0)
	x, y := make([]byte, blockSize), make([]byte, blockSize)
	for at < most {
		if at = skipHoles(ours, there, at, most); at == most {
			break
		}
		n := min(blockSize, most-at)
		if err := errors.Join(readAll(ours, x[:n], at), readAll(there, y[:n], at)); err != nil {
			return Differs, 0, err
		}
		if bytes.Equal(x[:n], y[:n]) {
			at += n
			continue
		}
		i := int64(0)
		for x[i] == y[i] {
			i++
		}
		at += i
		return Forked, lineEnd(ours, at), nil
	}
	switch {
	case size == below:
		return Same, at, nil
	case size > below:
		return Grown, at, nil
	}
	return Behind, at, nil
}

// readAll reads as many bytes as there must be. What is missing, because the file was cut
// meanwhile, counts as zeros.
func readAll(f *os.File, p []byte, at int64) error {
	n, err := f.ReadAt(p, at)
	clear(p[n:])
	if err == io.EOF {
		err = nil
	}
	return err
}

// skipHoles is the next place at which one of two files has data.
func skipHoles(a, b *os.File, at, most int64) int64 {
	next := most
	for _, f := range []*os.File{a, b} {
		n, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		switch {
		case err == unix.ENXIO: // no more data
		case err != nil:
			return at
		default:
			next = min(next, n)
		}
	}
	return max(at, next)
}

// lineEnd is the end of the last whole line before a place.
func lineEnd(f *os.File, at int64) int64 {
	from := max(0, at-blockSize)
	text := make([]byte, at-from)
	if readAll(f, text, from) != nil {
		return at
	}
	return from + int64(bytes.LastIndexByte(text, '\n')+1)
}
