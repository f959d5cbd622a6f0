// Package filelock locks files against other processes. The system releases a process's locks when
// it ends, so none are left behind.
//
// Start reading at Try.
//
// Known limits: the locks are advisory (flock; mandatory with LockFileEx on Windows), and some
// network file systems have none.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrHeld means that another process holds the file.
var ErrHeld = errors.New("another process holds it")

// poll is the interval for retries.
const poll = 10 * time.Millisecond

// Try locks the file at path exclusively, creating it if missing. It returns ErrHeld if another
// process holds it.
func Try(path string) (unlock func(), err error) { return try(path, false) }

// TryShare locks the file at path together with other sharers. It returns ErrHeld if another
// process holds it exclusively.
func TryShare(path string) (unlock func(), err error) { return try(path, true) }

// Wait is Try, but waits for the holder until ctx ends.
func Wait(ctx context.Context, path string) (unlock func(), err error) { return wait(ctx, path, false) }

// Share is TryShare, but waits for an exclusive holder until ctx ends.
func Share(ctx context.Context, path string) (unlock func(), err error) { return wait(ctx, path, true) }

// TryFile locks an open file until it is closed or unlocked. It returns ErrHeld if another process
// holds it.
func TryFile(f *os.File) error { return lock(f, false) }

func try(path string, shared bool) (unlock func(), err error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := lock(f, shared); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func wait(ctx context.Context, path string, shared bool) (unlock func(), err error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	for {
		if err = lock(f, shared); !errors.Is(err, ErrHeld) {
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
