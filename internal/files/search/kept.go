package search

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/files/search/sign"
)

// Folders remembers what is in the folders of trees from one search to the next, for as long as the
// process lives. Each folder is still opened and asked for its state; it is read again unless that
// is the one it was remembered in.
//
// Why that is never stale: whatever adds, removes, renames or replaces an entry sets both times of
// the folder to now, on every file system that sign.PlaceOf takes. A folder is remembered only when
// its times were older than sign.Young before it was read, so that a change after that gives it
// other times, and nobody can set the second one back. If the clock is behind that of an earlier
// search, everything is forgotten. What an entry's file holds, ignore files among them, is not
// remembered: a folder does not tell.
//
// Safe for concurrent use; nil remembers nothing.
type Folders struct {
	now  func() time.Time
	hits atomic.Int64 // folders that were not read

	mu      sync.RWMutex
	kept    map[folderID]kept
	marked  atomic.Int64 // about how many of the files have marks
	entries int
	last    time.Time // the latest search
}

// folderID names a folder while it exists.
type folderID struct{ device, inode uint64 }

// kept is what was in a folder in a state, by name. It never changes, but for the marks.
type kept struct {
	state sign.State
	list  []entry
	marks *marks
}

// marks are what signatures last knew of the files of a folder: a guess, for a folder does not tell
// what became of its files. nil knows none.
type marks struct {
	all    []atomic.Uint32 // of sign.Mark, by entry
	marked *atomic.Int64
}

func (m *marks) of(e entry) sign.Mark {
	if m == nil {
		return 0
	}
	return sign.Mark(m.all[e.at].Load())
}

func (m *marks) set(e entry, mark sign.Mark) {
	if m != nil && m.all[e.at].Swap(uint32(mark)) == 0 && mark != 0 {
		m.marked.Add(1)
	}
}

// marks is about how many files have a mark.
func (f *Folders) marks() int {
	if f == nil {
		return 0
	}
	return int(f.marked.Load())
}

// maxKept bounds the entries that are remembered, of about 44 bytes each; a folder counts as some.
const (
	maxKept    = 300_000
	folderCost = 4
)

// NewFolders remembers nothing yet.
func NewFolders() *Folders { return &Folders{now: time.Now, kept: map[folderID]kept{}} }

// view is what one walk knows of folders; if nil, nothing.
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
	f.marked.Store(0)
}

// read gives n what is in a folder that was just opened, or the first entries of a large one.
func (v *view) read(at folder, n *names) error {
	n.marks = nil
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
		n.list, n.marks, n.more = known.list, known.marks, false
		return nil
	}
	err := at.read(n, entriesAtOnce)
	if err == nil && !n.more && state.Settled(v.began) {
		known = v.keep(id, state, n.list)
		n.list, n.marks = known.list, known.marks
	}
	return err
}

// keep remembers a folder.
func (v *view) keep(id folderID, state sign.State, list []entry) kept {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for i := range list {
		list[i].at = uint32(i)
	}
	k := kept{state, list, &marks{make([]atomic.Uint32, len(list)), &v.marked}}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.entries += len(list) + folderCost; v.entries > maxKept {
		v.forget()
		v.entries = len(list) + folderCost
	}
	if old, ok := v.kept[id]; ok {
		v.entries -= len(old.list) + folderCost
	}
	v.kept[id] = k
	return k
}
