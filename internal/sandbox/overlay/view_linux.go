package overlay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/filelock"
)

// View is one command's. It belongs to one goroutine at a time.
type View struct {
	dir   string // of this view: an own folder for each root, and the journal
	home  string
	lock  *os.File // held as long as the process lives
	roots []Root
	tops  []int    // descriptors of the roots
	since [2]int64 // the time of file systems when the view was made

	homeDev uint64 // the file system of the view, when changes are applied

	shut      []*Change // folders of ours that the command forbade to look into, and that are open now
	opened    []*Change // files that the command opened for writing and left as they were
	vanished  bool      // the command removed or renamed what somebody else did too
	unclaimed bool      // files lost their names of which no new name is known
	sizes     atomic.Pointer[map[inode]int64]
	leases    map[inode]*os.File
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
	var st unix.Statx_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	if err := unix.Statx(at, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return Stat{}, err
	}
	when := func(t unix.StatxTimestamp) [2]int64 { return [2]int64{t.Sec, int64(t.Nsec)} }
	out := Stat{
		Mode: uint32(st.Mode), Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino, Size: int64(st.Size), Changed: when(st.Ctime),
		Modified: when(st.Mtime), Accessed: when(st.Atime), UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		out.Born = when(st.Btime)
	}
	return out, nil
}

// Newer reports that an entry has been changed since the view was made.
func (v *View) Newer(s Stat) bool { return s.There() && later(s.Changed, v.since) }

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

// Now is the path of the entry that a change replaces or removes. That is not Real where the command
// has renamed a folder that it is in.
func (v *View) Now(c *Change) string {
	return filepath.Join(v.roots[c.Root].Path, cmp.Or(c.was, c.Path))
}

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
