package overlay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/files/filelock"
)

// View is one command's. It belongs to one goroutine at a time.
type View struct {
	dir   string // of this view: an own folder for each root, and the journal
	home  string
	lock  *os.File // held as long as the process lives
	roots []Root
	tops  []int    // descriptors of the roots
	since [2]int64 // the time of file systems when the view was made

	opened  []*Change // folders of ours that had to be opened
	homeDev uint64    // the file system of the view, when changes are applied
}

const (
	lockName    = "lock"
	journalName = "journal"
	appliedName = "applied" // of the journal, when all is applied
	keptName    = "kept"    // beside the views
)

// Make makes a view below home, which is the folder of all views of the roots.
func Make(home string, roots []Root) (_ *View, err error) {
	return makeView(home, roots, func() (string, error) { return os.MkdirTemp(home, "view-") })
}

func makeView(home string, roots []Root, mkdir func() (string, error)) (_ *View, err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	v := &View{home: home, roots: roots}
	if v.dir, err = mkdir(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = v.Close()
		}
	}()
	if v.lock, err = os.OpenFile(filepath.Join(v.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := filelock.TryFile(v.lock); err != nil {
		return nil, err
	}
	data, err := json.Marshal(roots)
	if err != nil {
		return nil, err
	}
	if _, err := v.lock.Write(data); err != nil {
		return nil, err
	}
	if err := v.openRoots(); err != nil {
		return nil, err
	}
	for i := range roots {
		if err := v.makeUpper(i); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *View) openRoots() error {
	for _, r := range v.roots {
		fd, err := unix.Open(r.Path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return &fs.PathError{Op: "open", Path: r.Path, Err: err}
		}
		v.tops = append(v.tops, fd)
		st, err := statAt(fd, "")
		if err != nil {
			return err
		}
		if r.Ino != 0 && (st.Dev != r.Dev || st.Ino != r.Ino) {
			return fmt.Errorf("%s was replaced", r.Path)
		}
	}
	return nil
}

// Folder is where the overlay of a root finds its upper and its work folder.
func (v *View) Folder(root int) string { return filepath.Join(v.dir, fmt.Sprint(root)) }

func (v *View) upper(root int) string { return filepath.Join(v.Folder(root), "upper") }

// makeUpper makes the folders of a root. The topmost one shows its mode and owner for the root's.
func (v *View) makeUpper(i int) error {
	for _, dir := range []string{v.Folder(i), filepath.Join(v.Folder(i), "work"), v.upper(i)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := v.resemble(i, ""); err != nil {
		return err
	}
	for _, held := range v.roots[i].Held {
		if err := v.parents(i, held); err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(v.upper(i), held), 0o555); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for _, hidden := range v.roots[i].Hidden {
		if err := v.parents(i, hidden); err != nil {
			return err
		}
		if err := unix.Mknod(filepath.Join(v.upper(i), hidden), unix.S_IFCHR, 0); err != nil {
			return &fs.PathError{Op: "hide", Path: filepath.Join(v.roots[i].Path, hidden), Err: err}
		}
	}
	st, err := statAt(unix.AT_FDCWD, v.upper(i))
	if err == nil && (i == 0 || later(v.since, st.Changed)) {
		v.since = st.Changed
	}
	return err
}

// parents makes the folders above a path of a root in the upper one.
func (v *View) parents(i int, path string) error {
	at := ""
	for step := range strings.SplitSeq(filepath.Dir(path), "/") {
		if at = filepath.Join(at, step); at == "." {
			break
		}
		if err := os.Mkdir(filepath.Join(v.upper(i), at), 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := v.resemble(i, at); err != nil {
			return err
		}
	}
	return nil
}

// resemble gives a folder in the upper one the mode and owner of the one that it lies over.
func (v *View) resemble(i int, path string) error {
	fd, err := v.beneath(i, path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	st, err := statAt(fd, "")
	if err != nil {
		return err
	}
	upper := filepath.Join(v.upper(i), path)
	if os.Geteuid() == 0 {
		if err := os.Chown(upper, int(st.UID), int(st.GID)); err != nil {
			return err
		}
	}
	return unix.Chmod(upper, st.Mode&0o7777)
}

// beneath opens a folder of a root.
func (v *View) beneath(root int, path string) (int, error) {
	return openBeneath(v.tops[root], path)
}

func openBeneath(top int, path string) (int, error) {
	return unix.Openat2(top, cmp.Or(path, "."), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

// later reports that b is after a.
func later(b, a [2]int64) bool { return b[0] > a[0] || b[0] == a[0] && b[1] > a[1] }

func statAt(at int, name string) (Stat, error) {
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	if err := unix.Fstatat(at, name, &st, flags); err != nil {
		return Stat{}, err
	}
	return Stat{
		Mode: st.Mode, Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Changed: [2]int64{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)}, //nolint:unconvert // other sizes elsewhere
		Modified: [2]int64{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)}, UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink), //nolint:unconvert // likewise
	}, nil
}

// Newer reports that an entry has been changed since the view was made.
func (v *View) Newer(s Stat) bool { return s.There() && later(s.Changed, v.since) }

// Changes reads what was changed: one change for each root, of kind Merged. A root in which nothing
// was changed has no children.
func (v *View) Changes() ([]*Change, error) {
	var out []*Change
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
		if lower < 0 {
			return os.Remove(at) // it hides nothing
		}
		if slices.Contains(v.roots[c.Root].Hidden, c.Path) {
			return nil // it was put there before the command
		}
		if c.Lower.There() {
			c.Kind = Removed
			return v.readRemoved(c, name, lower)
		}
	case c.Upper.is(unix.S_IFREG):
		c.Kind = File
		if err := v.readRemoved(c, name, lower); err != nil {
			return err
		}
		if c.Lower.is(unix.S_IFREG) && c.Upper.Size == c.Lower.Size && v.same(c, lower, name) {
			c.Kind = 0
		}
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
			if n, err := unix.Readlinkat(lower, name, buf); err == nil && string(buf[:n]) == c.Target {
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

func (v *View) classifyFolder(c *Change, name string, lower int) error {
	if slices.Contains(v.roots[c.Root].Held, c.Path) {
		return nil
	}
	at := v.Place(c)
	if err := openFolder(at, c.Upper); err != nil { // else its attributes cannot be read
		return err
	}
	opaque, err := isOpaque(at)
	if err != nil {
		return err
	}
	if opaque && lower >= 0 && c.Lower.IsFolder() && v.born(lower, name) {
		opaque = false // both made it
	}
	if opaque || !c.Lower.IsFolder() {
		c.Kind = New
		if c.Upper.Mode&0o700 != 0o700 {
			v.opened = append(v.opened, c)
		}
		if c.Lower.There() {
			if err := v.readRemoved(c, name, lower); err != nil {
				return err
			}
		}
		return v.read(c, -1)
	}
	c.Kind = Merged
	below, err := openBeneath(lower, name)
	if err != nil {
		return err
	}
	defer unix.Close(below)
	if err := v.read(c, below); err != nil {
		return err
	}
	if len(c.Children) == 0 && c.Upper.Mode == c.Lower.Mode {
		c.Kind = 0
	}
	return nil
}

// born reports that an entry was made after the view.
func (v *View) born(at int, name string) bool {
	var st unix.Statx_t
	err := unix.Statx(at, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	return err == nil && st.Mask&unix.STATX_BTIME != 0 && later([2]int64{st.Btime.Sec, int64(st.Btime.Nsec)}, v.since)
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

// newestIn is the latest time of change in a folder.
func newestIn(fd int) (newest [2]int64, err error) {
	names, err := entries(fd)
	if err != nil {
		return newest, err
	}
	for _, name := range names {
		st, err := statAt(fd, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return newest, err
		}
		if later(st.Changed, newest) {
			newest = st.Changed
		}
		if !st.IsFolder() {
			continue
		}
		sub, err := openBeneath(fd, name)
		if err != nil {
			return newest, err
		}
		below, err := newestIn(sub)
		_ = unix.Close(sub)
		if err != nil {
			return newest, err
		}
		if later(below, newest) {
			newest = below
		}
	}
	return newest, nil
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

// strip removes the kernel's attributes.
func strip(at string, st Stat) error {
	names, err := attributeNames(at)
	for _, name := range names {
		if !strings.HasPrefix(name, overlayAttribute) {
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

// same reports a file that is what it was: a program opened it for writing and changed nothing.
func (v *View) same(c *Change, lower int, name string) bool {
	if c.Upper.Mode != c.Lower.Mode || c.Upper.Modified != c.Lower.Modified || c.Upper.UID != c.Lower.UID || c.Upper.GID != c.Lower.GID {
		return false
	}
	fd, err := unix.Openat(lower, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	there := os.NewFile(uintptr(fd), name)
	defer there.Close()
	ours, err := os.Open(v.Place(c))
	if err != nil {
		return false
	}
	defer ours.Close()
	return sameAttributes(ours, there) && sameContent(ours, there)
}

// sameAttributes compares the attributes of two files, but for the kernel's own.
func sameAttributes(a, b *os.File) bool {
	list := func(f *os.File) (out []string) {
		buf := make([]byte, 64<<10)
		n, err := unix.Flistxattr(int(f.Fd()), buf)
		if err != nil {
			return nil
		}
		for name := range splitNames(buf[:n]) {
			value := make([]byte, 64<<10)
			n, _ := unix.Fgetxattr(int(f.Fd()), name, value)
			out = append(out, name+"="+string(value[:max(n, 0)]))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(list(a), list(b))
}

// splitNames are the names of attributes, but for the kernel's own.
func splitNames(list []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(string(list), "\x00") {
			if name != "" && !strings.HasPrefix(name, overlayAttribute) && !yield(name) {
				return
			}
		}
	}
}

func sameContent(a, b io.Reader) bool {
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, x)
		m, err2 := io.ReadFull(b, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if err != nil || err2 != nil {
			return (err == io.EOF || err == io.ErrUnexpectedEOF) && (err2 == io.EOF || err2 == io.ErrUnexpectedEOF)
		}
	}
}

// Place is where the command's version of a change lies.
func (v *View) Place(c *Change) string { return filepath.Join(v.upper(c.Root), c.Path) }

// Rewrite gives a changed file another content before it is applied.
func (v *View) Rewrite(c *Change, text string) error {
	at := v.Place(c)
	next := at + tempPrefix + "rewritten" // a new file: the command may have given this one other names
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	err := unix.Chmod(next, c.Upper.Mode&0o7777)
	if err == nil {
		err = rename(next, at)
	}
	if err == nil {
		c.Upper, err = statAt(unix.AT_FDCWD, at)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(next))
	}
	return nil
}

// Real is the path of a change in its root.
func (v *View) Real(c *Change) string { return filepath.Join(v.roots[c.Root].Path, c.Path) }

// donePrefix begins the names of views that have been applied and are being removed.
const donePrefix = "done-"

// mostRetired bounds the views of one name that are being removed.
const mostRetired = 1000

// Retire gives the view up at once, so that nothing of it counts any more. Close, which takes
// longer, may follow at any time.
func (v *View) Retire() error {
	to := filepath.Join(v.home, donePrefix+filepath.Base(v.dir))
	err := rename(v.dir, to)
	for n := 2; errors.Is(err, fs.ErrExist) && n < mostRetired; n++ { // an earlier stage of the name is being removed
		to = filepath.Join(v.home, fmt.Sprint(donePrefix, filepath.Base(v.dir), "-", n))
		err = rename(v.dir, to)
	}
	if err != nil {
		return err
	}
	v.dir = to
	return nil
}

// Close removes the view, with all changes that were not applied.
func (v *View) Close() error {
	err := RemoveAll(v.dir)
	v.release()
	return err
}

// release lets go of all descriptors. It may be called again.
func (v *View) release() {
	for _, fd := range v.tops {
		_ = unix.Close(fd)
	}
	v.tops = nil
	if v.lock != nil {
		_ = v.lock.Close()
	}
}

// StatOf looks at a path, without following a link at its end.
func StatOf(path string) (Stat, error) { return statAt(unix.AT_FDCWD, path) }
