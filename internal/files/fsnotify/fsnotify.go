// Package fsnotify wakes a process when folders may have changed.
//
// The one rule: a wake-up is a hint; the caller must check for changes. Writes through a memory map
// cause no event until it is unmapped, writes through a hard link in another folder or from a
// remote machine never do.
//
// Start reading at Waiter.
//
// Known limits: NewBell returns ErrUnavailable outside Linux and on network file systems. Windows
// reports created and deleted files promptly but not writes: use EntryWaiter there.
package fsnotify

import (
	"context"
	"errors"
	"time"
)

// Errors for callers to distinguish.
var (
	// ErrUnavailable means that changes are not reported here.
	ErrUnavailable = errors.New("this system or file system does not tell what changes")
	// ErrLimit means that the system allows this user no more watches.
	ErrLimit = errors.New("there are more folders than the system watches (fs.inotify.max_user_watches)")
)

// Bell rings on changes in folders. It is free while nothing happens.
type Bell struct {
	// C receives a value after events, which may be combined. Close closes it.
	C   <-chan struct{}
	end func() error
}

// Waiter returns a function that waits until folders may have changed: for an event, or for the
// given interval without support. Its error is the context's.
func Waiter(every time.Duration, folders ...string) (next func(context.Context) error, end func()) {
	return waiter(NewBell, every, folders)
}

// EntryWaiter is Waiter for created and deleted files and for processes that end.
func EntryWaiter(every time.Duration, folders ...string) (next func(context.Context) error, end func()) {
	return waiter(newEntryBell, every, folders)
}

func waiter(newBell func(...string) (*Bell, error), every time.Duration, folders []string) (next func(context.Context) error, end func()) {
	bell, err := newBell(folders...)
	if err != nil {
		return func(ctx context.Context) error {
			timer := time.NewTimer(every)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			return ctx.Err()
		}, func() {}
	}
	return func(ctx context.Context) error {
		select {
		case <-bell.C:
		case <-ctx.Done():
		}
		return ctx.Err()
	}, bell.Close
}

// Close stops watching.
func (b *Bell) Close() { _ = b.end() } // nothing was written
