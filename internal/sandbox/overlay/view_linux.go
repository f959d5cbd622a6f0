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

	"golang.org/x/sys/unix"

	"adze/internal/osfile/filelock"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
)

// A View belongs to one command, and to one goroutine at a time.
type View struct {
	apply.Locations
	readState
	lock *os.File // held for the life of the process
}

// readState holds further results from reading the changes.
type readState struct {
	shut      []*Change // new folders that the command made unreadable, open now
	opened    []*Change // opened for writing and left unchanged
	vanished  bool      // an entry was removed or renamed by the command and by others
	unclaimed bool      // files lost their names without a known new one
}

// Make makes a view in home, the folder of all views for the roots.
func Make(home string, roots []apply.Root) (_ *View, err error) {
	return makeView(home, roots, func() (string, error) { return os.MkdirTemp(home, "view-") })
}

func makeView(home string, roots []apply.Root, mkdir func() (string, error)) (_ *View, err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	v := &View{Locations: apply.Locations{Home: home, Roots: roots}}
	if v.Dir, err = mkdir(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = v.Close()
		}
	}()
	if v.lock, err = os.OpenFile(filepath.Join(v.Dir, apply.LockName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
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
	if err := v.OpenRoots(); err != nil {
		return nil, err
	}
	for i := range roots {
		if err := v.makeUpper(i); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// makeUpper makes a root's upper and work folders. The topmost one's mode and owner are visible as
// the root's.
func (v *View) makeUpper(i int) error {
	for _, dir := range []string{v.Folder(i), filepath.Join(v.Folder(i), "work"), v.UpperFolder(i)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := v.resemble(i, ""); err != nil {
		return err
	}
	for _, hidden := range v.Roots[i].Hidden {
		if err := v.parents(i, hidden); err != nil {
			return err
		}
		if err := unix.Mknod(filepath.Join(v.UpperFolder(i), hidden), unix.S_IFCHR, 0); err != nil {
			return &fs.PathError{Op: "hide", Path: filepath.Join(v.Roots[i].Path, hidden), Err: err}
		}
	}
	st, err := entry.StatAt(unix.AT_FDCWD, v.UpperFolder(i))
	if err == nil && (i == 0 || entry.Later(v.ViewTime, st.Changed)) {
		v.ViewTime = st.Changed
	}
	return err
}

func (v *View) parents(i int, path string) error {
	at := ""
	for step := range strings.SplitSeq(filepath.Dir(path), "/") {
		if at = filepath.Join(at, step); at == "." {
			break
		}
		if err := os.Mkdir(filepath.Join(v.UpperFolder(i), at), 0o700); errors.Is(err, fs.ErrExist) {
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

// resemble copies mode and owner from the lower folder to the upper one.
func (v *View) resemble(i int, path string) error {
	fd, err := v.OpenBelow(i, path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	st, err := entry.StatAt(fd, "")
	if err != nil {
		return err
	}
	upper := filepath.Join(v.UpperFolder(i), path)
	if os.Geteuid() == 0 {
		if err := os.Chown(upper, int(st.UID), int(st.GID)); err != nil {
			return err
		}
	}
	return unix.Chmod(upper, st.Mode&0o7777)
}

// Place returns the path of the command's version.
func (v *View) Place(c *Change) string { return filepath.Join(v.UpperFolder(c.Root), c.Path) }

// Rewrite replaces a changed file's content before it is applied.
func (v *View) Rewrite(c *Change, text string) error {
	at := v.Place(c)
	next := at + apply.TempPrefix + "rewritten" // a new file: the old one may have other names
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	err := unix.Chmod(next, c.Upper.Mode&0o7777)
	if err == nil {
		err = entry.Rename(next, at)
	}
	if err == nil {
		c.Upper, err = entry.StatAt(unix.AT_FDCWD, at)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(next))
	}
	return nil
}

// Real returns a change's path in its root.
func (v *View) Real(c *Change) string { return filepath.Join(v.Roots[c.Root].Path, c.Path) }

// CurrentPath returns the current path of the entry that a change replaces or removes. It differs
// from Real inside a folder renamed by the command.
func (v *View) CurrentPath(c *Change) string {
	return filepath.Join(v.Roots[c.Root].Path, cmp.Or(c.was, c.Path))
}

// donePrefix marks views being removed.
const donePrefix = "done-"

// mostRetired limits the removals in progress for one name.
const mostRetired = 1000

// Retire invalidates the view at once. Close, which takes longer, may follow at any time.
func (v *View) Retire() error {
	to := filepath.Join(v.Home, donePrefix+filepath.Base(v.Dir))
	err := entry.Rename(v.Dir, to)
	for n := 2; errors.Is(err, fs.ErrExist) && n < mostRetired; n++ { // an earlier stage with this name is being removed
		to = filepath.Join(v.Home, fmt.Sprint(donePrefix, filepath.Base(v.Dir), "-", n))
		err = entry.Rename(v.Dir, to)
	}
	if err != nil {
		return err
	}
	v.Dir = to
	return nil
}

// Close removes the view, with all changes that were not applied.
func (v *View) Close() error {
	err := entry.RemoveAll(v.Dir)
	v.release()
	return err
}

// release closes all descriptors. It may be called again.
func (v *View) release() {
	for _, fd := range v.Tops {
		_ = unix.Close(fd)
	}
	v.Tops = nil
	if v.lock != nil {
		_ = v.lock.Close()
	}
}
