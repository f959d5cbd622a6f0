// Package fsnotify tells in which folders something happened since it was asked last.
//
// The one rule: it is a hint and never a proof. What it names may have changed; of what it does not
// name a caller knows only that no event came. Stores through a memory map make no event until the
// map is gone, writes through a hard link in a folder that is not watched make none at all, and a
// remote machine's never do.
//
// Start reading at Watch.Add and Watch.Drain (watch_linux.go). Whenever anything was lost, Drain
// says All.
//
// Known limits: Linux only, elsewhere New returns ErrUnavailable; so it does on file systems that
// other machines change. A new folder is not watched by itself: its parent is named, and whoever
// looks there adds it.
package fsnotify

import "errors"

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

// note enters an event.
func (c *Changed) note(folder, name string, written bool) {
	names := c.Folders[folder]
	if names == nil {
		if c.Folders == nil {
			c.Folders = map[string]map[string]bool{}
		}
		names = map[string]bool{}
		c.Folders[folder] = names
	}
	names[name] = names[name] || written
}
