//go:build linux || darwin

package undo

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writeFile creates a file with exactly this mode and these attributes. It fails if the name
// exists.
func (f folder) writeFile(name string, content []byte, mode uint32, attrs string) error {
	fd, err := openAt(f.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), name)
	if _, err = file.Write(content); err == nil {
		err = dressed(fd, mode, attrs)
	}
	if closed := file.Close(); closed != nil {
		return closed
	}
	return err
}

func (f folder) symlink(target, name string) error { return unix.Symlinkat(target, f.fd, name) }

func (f folder) makeFolder(name string) error { return unix.Mkdirat(f.fd, name, 0o700) }

func (f folder) chmod(name string, mode uint32) error {
	at, err := f.openFolder(name)
	if err != nil {
		return err
	}
	defer at.close()
	return unix.Fchmod(at.fd, mode)
}

// dress sets a folder's mode and attributes.
func (f folder) dress(name string, mode uint32, attrs string) error {
	at, err := f.openFolder(name)
	if err != nil {
		return err
	}
	defer at.close()
	return dressed(at.fd, mode, attrs)
}

// dressed sets the owner, mode and attributes of an open file or folder. errOwner means all but the
// owner was set.
func dressed(fd int, mode uint32, attrs string) error {
	owner := setOwner(fd, attrs)
	if err := errors.Join(unix.Fchmod(fd, mode), setAttrs(fd, attrs)); err != nil {
		return err
	}
	return owner
}

func (f folder) remove(name string) error       { return unix.Unlinkat(f.fd, name, 0) }
func (f folder) removeFolder(name string) error { return unix.Unlinkat(f.fd, name, unix.AT_REMOVEDIR) }

// endExchange does nothing: exchange is atomic.
func (f folder) endExchange(string, string) error { return nil }
