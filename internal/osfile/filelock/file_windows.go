package filelock

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// Try locks the file at path for this process alone, and makes it where it is missing. The error is
// ErrHeld if another process holds it.
func Try(path string) (unlock func(), err error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := TryFile(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// Wait is Try, but waits for the process that holds the file, until ctx ends.
func Wait(ctx context.Context, path string) (unlock func(), err error) {
	return wait(ctx, path, windows.LOCKFILE_EXCLUSIVE_LOCK)
}

// Share holds the file together with others that share it. It waits for a process that holds the
// file alone, until ctx ends.
func Share(ctx context.Context, path string) (unlock func(), err error) { return wait(ctx, path, 0) }

func wait(ctx context.Context, path string, how uint32) (unlock func(), err error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	for {
		if err = lock(f, how); !errors.Is(err, ErrHeld) {
			break
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-time.After(poll):
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// open shares the file with everybody: a lock file can be removed by who holds it.
func open(path string) (*os.File, error) {
	at, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(at, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// TryFile locks an open file until it is closed or unlocked. The error is ErrHeld if another
// process holds it.
func TryFile(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// UnlockFile unlocks a file that TryFile locked, which stays open.
func UnlockFile(f *os.File) error {
	at := locked()
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// locked is the byte that is locked, far behind the content, which stays readable and writable: a
// lock of Windows keeps others from the bytes that it covers.
func locked() windows.Overlapped { return windows.Overlapped{OffsetHigh: 1 << 30} }

func lock(f *os.File, how uint32) error {
	at := locked()
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}
