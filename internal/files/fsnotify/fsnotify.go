// Package fsnotify wakes a process when something may have happened in folders.
//
// The one rule: it is a hint and never a proof. Whoever is woken looks what happened. Stores
// through a memory map make no event until the map is gone, writes through a hard link in another
// folder make none at all, and a remote machine's never do.
//
// Start reading at Waiter.
//
// Known limits: NewBell is for Linux only, and returns ErrUnavailable elsewhere; so it does on file
// systems that other machines change. Windows tells in time of files that come and go, and not of
// what is written to them: EntryWaiter works there.
package fsnotify

import (
	"context"
	"errors"
	"time"
)

// Errors that callers decide by.
var (
	// ErrUnavailable means that changes are not told here.
	ErrUnavailable = errors.New("this system or file system does not tell what changes")
	// ErrLimit means that the system watches no more folders for this user.
	ErrLimit = errors.New("there are more folders than the system watches (fs.inotify.max_user_watches)")
)

// Bell rings when something happens in folders. It costs nothing while nothing happens.
type Bell struct {
	// C gets a value after events; several may be one value. It is closed by Close.
	C   <-chan struct{}
	end func() error
}

// Waiter returns a function that waits until something may have happened in folders: for an event,
// or for some time where the system tells of none. Its error is that of the context.
func Waiter(every time.Duration, folders ...string) (next func(context.Context) error, end func()) {
	return waiter(NewBell, every, folders)
}

// EntryWaiter is Waiter for who waits for files that come and go, and for processes that end.
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

// Close ends watching.
func (b *Bell) Close() { _ = b.end() } // nothing was written
