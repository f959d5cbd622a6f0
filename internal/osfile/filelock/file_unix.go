//go:build unix

package filelock

import (
	"context"
	"os"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

func of(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o600)) }

// Try locks the file at path for this process alone, and makes it where it is missing. The error is
// ErrHeld if another process holds it.
func Try(path string) (unlock func(), err error) {
	l := of(path)
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = ErrHeld
	}
	return held(l, err)
}

// Wait is Try, but waits for the process that holds the file, until ctx ends.
func Wait(ctx context.Context, path string) (unlock func(), err error) {
	l := of(path)
	if ctx.Done() == nil {
		return held(l, l.Lock())
	}
	_, err = l.TryLockContext(ctx, poll)
	return held(l, err)
}

// Share holds the file together with others that share it. It waits for a process that holds the
// file alone, until ctx ends.
func Share(ctx context.Context, path string) (unlock func(), err error) {
	l := of(path)
	_, err = l.TryRLockContext(ctx, poll)
	return held(l, err)
}

func held(l *flock.Flock, err error) (func(), error) {
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return func() { _ = l.Close() }, nil
}

// TryFile locks an open file until it is closed or unlocked. The error is ErrHeld if another
// process holds it.
func TryFile(f *os.File) error { return lock(f, unix.LOCK_EX|unix.LOCK_NB) }

// UnlockFile unlocks a file that TryFile locked, which stays open.
func UnlockFile(f *os.File) error { return lock(f, unix.LOCK_UN) }

func lock(f *os.File, how int) error {
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
