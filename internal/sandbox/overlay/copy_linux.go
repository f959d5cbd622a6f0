package overlay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// copyTo copies a file, link or folder.
func copyTo(from string, at int, name string) error {
	st, err := statAt(unix.AT_FDCWD, from)
	if err != nil {
		return err
	}
	switch {
	case st.is(unix.S_IFLNK):
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return unix.Symlinkat(target, at, name)
	case st.IsFolder():
		return copyFolder(from, st, at, name)
	}
	in, err := openOurs(from, st)
	if err != nil {
		return err
	}
	defer in.Close()
	fd, err := unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	defer to.Close()
	err = copyData(to, in, 0, st.Size)
	if err == nil {
		err = attire(int(to.Fd()), st, attributesOf(int(in.Fd())), true, false)
	}
	return errors.Join(err, to.Close())
}

func copyFolder(from string, st Stat, at int, name string) error {
	if err := unix.Mkdirat(at, name, 0o700); err != nil {
		return err
	}
	if st.Mode&0o500 != 0o500 { // a kill here leaves it so
		if err := openFolder(from, st); err != nil {
			return err
		}
	}
	names, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	defer to.Close()
	for _, e := range names {
		if err := copyTo(filepath.Join(from, e.Name()), fd, e.Name()); err != nil {
			return err
		}
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return attire(fd, st, attributesOf(int(in.Fd())), true, false)
}

// removeBeneath removes a name, and what is below it where it is a folder.
func removeBeneath(at int, name string) error {
	err := unix.Unlinkat(at, name, 0)
	switch {
	case err == nil || err == unix.ENOENT:
		return nil
	case err != unix.EISDIR && err != unix.EPERM:
		return err
	}
	if err := fchmod(at, name, 0o700); err != nil {
		return err
	}
	fd, err := openBeneath(at, name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := entries(fd)
	if err != nil {
		return err
	}
	for _, below := range names {
		if err := removeBeneath(fd, below); err != nil {
			return err
		}
	}
	return unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
}

// fchmod changes the mode of a folder without following a link.
func fchmod(at int, name string, mode uint32) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode&0o7777)
}

// setAside moves a change that is left out to the folder of what is kept.
func (v *View) setAside(c *Change) Left {
	l := Left{Path: v.Real(c), Why: c.Left}
	if c.Kind == Removed || c.Kind == Special || c.Kind == Merged {
		_ = os.RemoveAll(v.Place(c))
		return l
	}
	l.Kept = v.keep(c.Root, c.Path)
	return l
}

// keep moves an entry of ours to the folder of what is kept, and returns where it is then.
func (v *View) keep(root int, path string) string {
	to := filepath.Join(v.home, keptName, filepath.Base(v.dir), path)
	if root > 0 {
		to = filepath.Join(v.home, keptName, filepath.Base(v.dir), fmt.Sprint("root-", root), path)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return ""
	}
	from := filepath.Join(v.upper(root), path)
	if err := rename(from, to); err != nil {
		if os.Chmod(from, 0o700) != nil || rename(from, to) != nil {
			return ""
		}
	}
	return to
}
