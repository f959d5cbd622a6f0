package entry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CopyTo copies a file, link or folder.
func CopyTo(from string, at int, name string) error {
	st, err := StatAt(unix.AT_FDCWD, from)
	if err != nil {
		return err
	}
	switch {
	case st.HasType(unix.S_IFLNK):
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return unix.Symlinkat(target, at, name)
	case st.IsFolder():
		return copyFolder(from, st, at, name)
	}
	in, err := OpenOwn(from, st)
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
	err = CopyData(to, in, 0, st.Size)
	if err == nil {
		err = SetAttributes(int(to.Fd()), st, AttributesOf(int(in.Fd())), true, false)
	}
	return errors.Join(err, to.Close())
}

func copyFolder(from string, st Stat, at int, name string) error {
	if err := unix.Mkdirat(at, name, 0o700); err != nil {
		return err
	}
	if st.Mode&0o500 != 0o500 { // stays so after a kill here
		if err := OpenFolder(from, st); err != nil {
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
		if err := CopyTo(filepath.Join(from, e.Name()), fd, e.Name()); err != nil {
			return err
		}
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return SetAttributes(fd, st, AttributesOf(int(in.Fd())), true, false)
}

// RemoveBeneath removes an entry with its content.
func RemoveBeneath(at int, name string) error {
	err := unix.Unlinkat(at, name, 0)
	switch {
	case err == nil || err == unix.ENOENT:
		return nil
	case err != unix.EISDIR && err != unix.EPERM:
		return err
	}
	if err := Fchmod(at, name, 0o700); err != nil {
		return err
	}
	fd, err := OpenBeneath(at, name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := Names(fd)
	if err != nil {
		return err
	}
	for _, below := range names {
		if err := RemoveBeneath(fd, below); err != nil {
			return err
		}
	}
	return unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
}

// Fchmod changes a folder's mode without following a link.
func Fchmod(at int, name string, mode uint32) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode&0o7777)
}
