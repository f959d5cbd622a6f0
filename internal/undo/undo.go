// Package undo takes states of a folder, compares two states, and restores files.
//
// The one rule: undo never removes or overwrites unknown content. It touches a path only if its
// entry matches the taken state in kind, mode and content. It checks the entry again after swapping
// it out, so that a change in between goes back to its place.
//
// Start reading at Workspace.Take, Diff, Plan and Apply. Take (take.go) walks everything, TakeAt
// (some.go) only the paths its caller names. walk.go reads a folder, content.go files that stat
// does not prove unchanged. Contents and listings are stored by hash (package pack). A Mark is the
// hash of the root's listing (listing.go), so states share equal parts. table.go caches stat data
// for the next run. plan.go decides which paths to restore; apply.go, step.go and place.go restore
// them after the plan was written and synced (journal.go), so that Recover finishes after a crash.
// prune.go and forget.go delete old or unwanted contents. named.go covers single paths of wide
// folders. folder*.go, change_*.go and attr_*.go make all system calls; they reach entries only by
// their folder's descriptor. No links are followed, no git is started, and no FIFO or device is
// opened.
//
// Known limits:
//   - Linux, macOS and Windows only; elsewhere Open returns ErrUnsupported.
//   - Take looks at everything: in a tree of 300,000 files that takes a second or two.
//   - Windows has no atomic exchange: a replaced file is missing for a moment. Attributes are kept
//     except those for search and archives, streams are not, access lists only where the file still
//     exists. Links come back where the user may create them.
//   - A path moved out of a folder that is left out counts as new, unless the whole folder moved.
//   - A file over 64 MiB is left out.
//   - Times, link owners, and attributes other than user.* and ACLs are not kept; on macOS neither
//     owners nor attributes. A file with a set-user-ID bit is refused.
//   - A file with several hard links comes back as separate files.
//   - A git folder is covered if it is inside the folder, without its objects.
//   - A write through a memory map that changes no timestamp is found within 40 seconds of the last
//     change that did, or by TakeSettled.
//   - After a power loss during an undo, a replaced file may be torn; it is then refused and named,
//     and its contents are in the store. Names are compared byte by byte.
//   - Names starting with .adze-undo- belong to undo and are never covered.
//   - Only Prune and Forget delete from the store, and only while nobody else covers the folder.
package undo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"adze/internal/files/search/ignore"
	"adze/internal/osfile/filelock"
	"adze/internal/undo/pack"
)

// Errors for callers to test.
var (
	// ErrUnsupported means the system lacks calls undo needs.
	ErrUnsupported = errors.New("undo is not available on this system")
	// ErrTooWide means the folder contains the user's home or adze's own data, or is the whole
	// disk.
	ErrTooWide = errors.New("the folder is too wide to be covered by undo")
	// ErrLook means the folder was opened read-only.
	ErrLook = errors.New("what is kept for undo cannot be written")
	// ErrBusy means another process is restoring.
	ErrBusy = errors.New("another process is restoring files here; wait for it and try again")
	// ErrInUse means another process covers the folder, so nothing can be deleted.
	ErrInUse = errors.New("another adze works in this folder; close it and try again")
	// ErrSpace means the disk was too full to store everything.
	ErrSpace = errors.New("the disk is too full to keep all that undo would need")
)

// Options configure a Workspace.
type Options struct {
	Root     string   // the covered folder, absolute
	State    string   // the store's folder; created if missing, never covered
	Home     string   // the user's home, which is too wide; not checked if empty
	Excluded []string // folders that must not be restored into; one that contains them is too wide
	Named    bool     // cover only the paths named in TakeAt; any folder may be used
	Limits   Limits   // zero fields mean the defaults
	Ignore   ignore.Finder
	// Skip reports whether an empty, read-only folder is a temporary one of adze, to be left out of
	// states. Optional.
	Skip func(path string) bool
	Now  func() time.Time // nil means time.Now
	Look bool             // read-only: states are not stored, and nothing is restored
	// Moment is called wherever a crash or a concurrent change matters. For tests only.
	Moment func()
}

// A Workspace is one folder with its states. It is safe for concurrent use; calls wait for each
// other.
type Workspace struct {
	opts   Options
	store  *pack.Store
	state  inode        // of the state folder, which is left out
	top    inode        // of the folder at the last full walk
	looked atomic.Int64 // entries examined by the last Take

	journal

	turn        turn     // guards the following fields
	tree        *dir     // of the last Take; nil before the first
	only        []string // paths of the next Take if only named paths are covered
	left        []Uncovered
	uncovered   map[inode]bool // folders the last Take left out
	overLimit   bool           // some of left exceed a total limit
	forgotten   []string
	fullyWalked bool   // everything was walked in this process
	dropped     uint64 // the store's Dropped at the last full walk
	saved       bool   // the table on disk equals tree
	workers     int    // number of reading goroutines

	crash func() // Options.Moment
}

// moment marks a point where a crash or a concurrent change matters.
func (w *Workspace) moment() {
	if w.crash != nil {
		w.crash()
	}
}

// A Mark identifies a state of the folder. Equal marks mean equal states.
type Mark struct{ Tree pack.Hash }

func (m Mark) String() string { return m.Tree.String() }

// IsZero reports whether m is no state.
func (m Mark) IsZero() bool { return m == Mark{} }

// ParseMark parses the result of Mark.String.
func ParseMark(s string) (m Mark, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(m.Tree) {
		return Mark{}, fmt.Errorf("%q is no mark of a state", s)
	}
	copy(m.Tree[:], b)
	return m, nil
}

// A Left is a path undo does not cover.
type Uncovered struct {
	Path   string
	Size   int64 // of a file, in bytes
	Reason string
}

// Open opens a folder and its store. The caller must call Recover before anything else changes
// files.
func Open(o Options) (*Workspace, error) {
	root := filepath.Clean(o.Root)
	if err := TooWide(o); err != nil && !o.Named {
		return nil, err
	}
	o.Root, o.Limits = root, o.Limits.orDefault()
	if o.Now == nil {
		o.Now = time.Now
	}
	top, err := openRoot(o.Root)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", root, err)
	}
	top.close()
	w := &Workspace{opts: o, journal: journal(o.State), turn: make(turn, 1), workers: workers(), crash: o.Moment}
	open := pack.Open
	if o.Look {
		open = pack.Look
	}
	if w.store, err = open(filepath.Join(o.State, "packs")); err != nil {
		return nil, err
	}
	if !o.Look {
		if err := os.Chmod(o.State, 0o700); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	st, err := statPath(o.State)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.state = st.inode
	if w.forgotten, err = w.loadForgotten(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if !o.Named {
		w.tree = w.loadTable()
	}
	if w.tree != nil {
		w.saved = true
		_, w.uncovered, _ = leftOut(w.tree)
	}
	return w, nil
}

// Close writes the table and releases all resources.
func (w *Workspace) Close() error {
	w.turn <- struct{}{}
	defer w.turn.give()
	var err error
	if !w.opts.Look {
		err = w.saveTable()
	}
	return errors.Join(err, w.store.Close())
}

// Take stores the folder's state and returns its mark. It looks at everything and reads files that
// stat does not prove unchanged. The state is synced to disk when Take returns. Concurrent changes
// appear as found, each file consistent in itself. With ErrSpace the state is taken without the
// entries that did not fit (see LeftOut), unless the mark is zero.
func (w *Workspace) Take(ctx context.Context) (Mark, error) { return w.take(ctx, settleSome) }

// TakeSettled is like Take but also rereads everything that changed too recently for its stat to
// prove anything. Call it when idle: it finds changes made through memory maps.
func (w *Workspace) TakeSettled(ctx context.Context) (Mark, error) { return w.take(ctx, settleAll) }

// LeftOut lists the paths the last Take did not cover, sorted.
func (w *Workspace) LeftOut() []Uncovered {
	w.turn <- struct{}{}
	defer w.turn.give()
	return slices.Clone(w.left)
}

// State returns the store's folder.
func (w *Workspace) State() string { return w.opts.State }

// Content returns a stored file content by its hash.
func (w *Workspace) Content(h pack.Hash) ([]byte, error) { return w.store.Get(h) }

// lock keeps other processes from restoring at the same time.
func (w *Workspace) lock() (unlock func(), err error) {
	unlock, err = filelock.Try(filepath.Join(w.opts.State, "lock"))
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, ErrBusy
	case err != nil:
		return nil, fmt.Errorf("lock the store: %w", err)
	}
	return unlock, nil
}
