//go:build unix

package filelock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// open opens a lock file for writing, which NFS requires for a lock, or for reading if it is not
// writable.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return os.Open(path)
	}
	return f, err
}

// UnlockFile unlocks a file locked by TryFile, which stays open.
func UnlockFile(f *os.File) error { return flock(f, unix.LOCK_UN) }

func lock(f *os.File, shared bool) error {
	if shared {
		return flock(f, unix.LOCK_SH|unix.LOCK_NB)
	}
	return flock(f, unix.LOCK_EX|unix.LOCK_NB)
}

func flock(f *os.File, how int) error {
	for {
		switch err := unix.Flock(int(f.Fd()), how); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return ErrHeld
		default:
			return err
		}
	}
}
