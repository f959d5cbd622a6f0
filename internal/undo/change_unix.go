//go:build linux || darwin

package undo

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writeFile makes a new file with exactly this mode and these attributes. It fails when the name is
// taken.
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

// chmod changes the mode of a folder.
func (f folder) chmod(name string, mode uint32) error {
	at, err := f.openFolder(name)
	if err != nil {
		return err
	}
	defer at.close()
	return unix.Fchmod(at.fd, mode)
}

// dress gives a folder its mode and its attributes.
func (f folder) dress(name string, mode uint32, attrs string) error {
	at, err := f.openFolder(name)
	if err != nil {
		return err
	}
	defer at.close()
	return dressed(at.fd, mode, attrs)
}

// dressed gives an open file or folder its owner, mode and attributes. With errOwner only the owner
// is not what it was.
func dressed(fd int, mode uint32, attrs string) error {
	owner := setOwner(fd, attrs)
	if err := errors.Join(unix.Fchmod(fd, mode), setAttrs(fd, attrs)); err != nil {
		return err
	}
	return owner
}

func (f folder) remove(name string) error       { return unix.Unlinkat(f.fd, name, 0) }
func (f folder) removeFolder(name string) error { return unix.Unlinkat(f.fd, name, unix.AT_REMOVEDIR) }

// endExchange has nothing to end: an exchange is one step.
func (f folder) endExchange(string, string) error { return nil }
