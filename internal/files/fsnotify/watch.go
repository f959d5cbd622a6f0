// Package fsnotify tells in which folders something happened since it was asked last.
//
// The one rule: it is a hint and never a proof. What it names may have changed; of what it does not
// name a caller knows only that no event came. Stores through a memory map make no event until the
// map is gone, writes through a hard link in a folder that is not watched make none at all, and a
// remote machine's never do.
//
// Start reading at Watch.Add and Watch.Drain (watch_linux.go). Whenever anything was lost, Drain
// says All. A Bell is for a process that waits, and looks itself what happened.
//
// Known limits: New and NewBell are for Linux only, and return ErrUnavailable elsewhere; so they do
// on file systems that other machines change. Windows tells in time of files that come and go, and
// not of what is written to them: EntryWaiter works there. A new folder is not watched by itself:
// its parent is named, and whoever looks there adds it.
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

// Changed is what happened.
type Changed struct {
	// All means that events were lost, or one came after which nothing is known: anything may have
	// changed.
	All bool
	// Folders are those in which something happened, by the path they were added with. The names
	// are those of entries; true means that the content was written. The name "" is the folder
	// itself.
	Folders map[string]map[string]bool
}

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
