//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

func openNew(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, private)
}

// openOld opens a file without following links or blocking.
func openOld(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

func rename(from, to string) error { return os.Rename(from, to) }

// SyncFolder makes a folder's entries durable. Systems that cannot sync folders have other means.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
