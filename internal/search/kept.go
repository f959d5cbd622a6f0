package search

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/search/sign"
)

// Folders remembers what is in the folders of trees from one search to the next, for as long as the process lives. Each
// folder is still opened and asked for its state; it is read again unless that is the one it was remembered in.
//
// Why that is never stale: whatever adds, removes, renames or replaces an entry sets both times of the folder to now, on
// every file system that sign.PlaceOf takes. A folder is remembered only when its times were older than sign.Young before
// it was read, so that a change after that gives it other times, and nobody can set the second one back. If the clock is
// behind that of an earlier search, everything is forgotten. What an entry's file holds, ignore files among them, is not
// remembered: a folder does not tell.
//
// Safe for concurrent use; nil remembers nothing.
type Folders struct {
	now  func() time.Time
	hits atomic.Int64 // folders that were not read

	mu      sync.RWMutex
	kept    map[folderID]kept
	entries int
	last    time.Time // the latest search
}

// folderID names a folder while it exists.
type folderID struct{ device, inode uint64 }

// kept is what was in a folder in a state, by name. It never changes.
type kept struct {
	state sign.State
	list  []entry
}

// maxKept bounds the entries that are remembered, of about 40 bytes each; a folder counts as some.
const (
	maxKept    = 300_000
	folderCost = 4
)

// NewFolders remembers nothing yet.
func NewFolders() *Folders { return &Folders{now: time.Now, kept: map[folderID]kept{}} }

// view is what one walk knows of folders; nil: nothing.
type view struct {
	*Folders
	device uint64 // of the walk's root: other file systems may tell less
	began  time.Time
}

// view begins a walk.
func (f *Folders) view(root string) *view {
	if f == nil {
		return nil
	}
	at, ok := sign.PlaceOf(root)
	if !ok {
		return nil
	}
	v := &view{f, at.Device, f.now()}
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.began.Before(f.last) {
		f.forget()
	}
	f.last = v.began
	return v
}

// forget drops everything. The lock is held.
func (f *Folders) forget() {
	clear(f.kept)
	f.entries = 0
}

// read gives n what is in a folder that was just opened, or the first entries of a large one.
func (v *view) read(at folder, n *names) error {
	if v == nil {
		return at.read(n, entriesAtOnce)
	}
	state, ok := at.itself()
	if !ok || state.Device != v.device {
		return at.read(n, entriesAtOnce)
	}
	id := folderID{state.Device, state.Inode}
	v.mu.RLock()
	known, ok := v.kept[id]
	v.mu.RUnlock()
	if ok && known.state == state {
		v.hits.Add(1)
		n.list, n.more = known.list, false
		return nil
	}
	err := at.read(n, entriesAtOnce)
	if err == nil && !n.more && state.Settled(v.began) {
		v.keep(id, state, n.list)
	}
	return err
}

// keep remembers a folder.
func (v *view) keep(id folderID, state sign.State, list []entry) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.entries += len(list) + folderCost; v.entries > maxKept {
		v.forget()
		v.entries = len(list) + folderCost
	}
	if old, ok := v.kept[id]; ok {
		v.entries -= len(old.list) + folderCost
	}
	v.kept[id] = kept{state, list}
}
