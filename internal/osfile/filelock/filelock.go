// Package filelock locks files against other processes. The system takes a lock from a process that
// ends, so that none is left behind.
//
// Start reading at Try.
//
// Known limits: the locks are advisory (flock; LockFileEx on Windows, where they hold), and some
// network file systems have none.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrHeld says that another process holds the file.
var ErrHeld = errors.New("another process holds it")

// poll is the time between two tries of a wait.
const poll = 10 * time.Millisecond

// Try locks the file at path for this process alone, and makes it where it is missing. The error is
// ErrHeld if another process holds it.
func Try(path string) (unlock func(), err error) { return try(path, false) }

// TryShare locks the file at path together with others that share it. The error is ErrHeld if
// another process holds it alone.
func TryShare(path string) (unlock func(), err error) { return try(path, true) }

// Wait is Try, but waits for the process that holds the file, until ctx ends.
func Wait(ctx context.Context, path string) (unlock func(), err error) { return wait(ctx, path, false) }

// Share is TryShare, but waits for the process that holds the file alone, until ctx ends.
func Share(ctx context.Context, path string) (unlock func(), err error) { return wait(ctx, path, true) }

// TryFile locks an open file until it is closed or unlocked. The error is ErrHeld if another
// process holds it.
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
