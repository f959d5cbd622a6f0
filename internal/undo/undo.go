// Package undo takes the state of a folder, tells what changed between two states, and puts back
// what was.
//
// The one rule: undo never removes or overwrites what it does not know. A path is only touched when
// what is there is, by kind, mode and content, what the taken state says; and it is looked at once
// more after it was swapped out, by which a change that came in between goes back to its place.
//
// Start reading at Workspace.Take, Diff, Plan and Apply. Take (take.go) walks everything, TakeAt
// (some.go) looks only at the paths that its caller names. walk.go reads a folder, content.go what
// its stat does not prove unchanged; contents
// and listings are stored by hash (package pack); a Mark is the hash of the topmost listing
// (listing.go), so that states share what is equal. table.go keeps what stat said, for the next
// run; it is only a cache. plan.go decides what to put back; apply.go, step.go and place.go do it
// after the plan was written and synced (journal.go), so that Recover finishes what a killed
// process began. prune.go and forget.go drop what is old or unwanted. named.go is for folders of
// which only single paths are covered.
// folder*.go, change_*.go and attr_*.go are all that speaks to the system: everything is reached
// by the descriptor of its folder. Nothing is read through a link, no git is started, and neither
// FIFO nor device is opened.
//
// Known limits:
//   - Linux, macOS and Windows: elsewhere Open returns ErrUnsupported.
//   - Each Take looks at everything: in a tree of 300,000 files that takes a second or two.
//   - Windows exchanges no two names in one step: a file that is replaced is missing for a moment.
//     Attributes are kept but for those of search and archives, streams are not, and access lists
//     only where the file still stands. Links come back where the user may make them.
//   - What is moved out of a folder that is left out counts as made anew; a folder that is moved as
//     a whole does not.
//   - A file over 64 MiB is left out.
//   - Times, owners of links, and attributes that are neither user.* nor ACLs are not kept; on
//     macOS neither owners nor attributes. A file with a set-user-ID bit is refused.
//   - A file with several names comes back as a file of its own under each of them.
//   - Git's folder is covered where it stands in the folder, without its objects.
//   - A write through a memory map that changes no timestamp is found within 40 seconds of the last
//     change that did, or by Settle.
//   - After a loss of power in the middle of an undo a file that it replaced may be torn; it is
//     refused and named then, and its contents are in the store. Names are compared byte by byte.
//   - Names that begin with .adze-undo- are undo's own and never covered.
//   - Nothing is dropped from the store by itself: Prune and Forget do it, while nobody else covers
//     the folder.
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

// Errors that callers decide by.
var (
	// ErrUnsupported means that this system has not what undo needs.
	ErrUnsupported = errors.New("undo is not available on this system")
	// ErrTooWide means that the folder holds the user's home or what adze keeps, or is all of the
	// disk.
	ErrTooWide = errors.New("the folder is too wide to be covered by undo")
	// ErrLook means that the folder was opened only to look.
	ErrLook = errors.New("what is kept for undo cannot be written")
	// ErrBusy means that another process is restoring.
	ErrBusy = errors.New("another process is restoring files here; wait for it and try again")
	// ErrInUse means that another process covers the folder, so that nothing can be dropped.
	ErrInUse = errors.New("another adze works in this folder; close it and try again")
	// ErrSpace means that not everything could be kept because the disk is too full.
	ErrSpace = errors.New("the disk is too full to keep all that undo would need")
)

// Options say what is covered and where it is kept.
type Options struct {
	Root   string   // the folder that is covered, absolute
	State  string   // the folder of the store; made when missing, itself never covered
	Home   string   // the user's home, which is too wide; if empty, not checked
	Apart  []string // folders that nothing may be restored in: one around them is too wide
	Named  bool     // cover only the paths that are named: TakeAt; no folder is too wide for it
	Limits Limits   // zero fields mean the defaults
	Ignore ignore.Finder
	// Skip reports that an empty, read-only folder is a passing thing of adze and no part of a state.
	// Optional.
	Skip func(path string) bool
	Now  func() time.Time // if nil, time.Now
	Look bool             // nothing is written: a state that is taken is not kept, and nothing is put back
	// Same reports whether two contents of a file of git's own state mean the same, so that the one
	// may stand for the other; if nil, only equal ones do.
	Same func(path string, a, b []byte) bool

	// Moment is called at each moment at which a process may die, or somebody else may change what
	// is there. It is for tests; nil otherwise.
	Moment func()
}

// Workspace is one folder with its states. It may be used by several goroutines; they wait for each
// other.
type Workspace struct {
	opts   Options
	store  *pack.Store
	state  inode        // of the state folder, which is left out
	top    inode        // of the folder, when it was last walked as a whole
	looked atomic.Int64 // entries that the last Take looked at

	journal

	turn      turn     // guards what follows
	tree      *dir     // what the last Take saw; nil before the first
	only      []string // the paths that the next Take is of, where only named ones are covered
	left      []Left
	uncovered map[inode]bool // folders that the last Take left out
	overLimit bool           // some of left is left out because of the others
	forgotten []string
	whole     bool   // everything was looked at in this process
	dropped   uint64 // of the store, when everything was looked at
	saved     bool   // the table on disk is tree
	workers   int    // that read what a state is of

	crash func() // Options.Moment
}

// moment is where a process may die, or somebody else may change what is there.
func (w *Workspace) moment() {
	if w.crash != nil {
		w.crash()
	}
}

// Mark is a state of the folder. Equal marks are equal states.
type Mark struct{ Tree pack.Hash }

func (m Mark) String() string { return m.Tree.String() }

// IsZero reports whether there is no state.
func (m Mark) IsZero() bool { return m == Mark{} }

// ParseMark reads what Mark.String wrote.
func ParseMark(s string) (m Mark, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(m.Tree) {
		return Mark{}, fmt.Errorf("%q is no mark of a state", s)
	}
	copy(m.Tree[:], b)
	return m, nil
}

// Left is a path that undo does not cover.
type Left struct {
	Path   string
	Size   int64 // of a file, in bytes
	Reason string
}

// Open opens a folder and what is kept of it. The caller calls Recover before anything else changes
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

// Close writes the table and lets go of everything.
func (w *Workspace) Close() error {
	w.turn <- struct{}{}
	defer w.turn.give()
	var err error
	if !w.opts.Look {
		err = w.saveTable()
	}
	return errors.Join(err, w.store.Close())
}

// Take stores the state of the folder and returns its mark. It looks at everything, and reads what
// stat does not prove unchanged. The state is safe from a loss of power when Take returns. What
// changes while it looks is in the state as it was found, each file whole. With ErrSpace the state
// is taken all the same, without what had no room (see LeftOut), unless the mark is zero.
func (w *Workspace) Take(ctx context.Context) (Mark, error) { return w.take(ctx, settleSome) }

// Settle is Take that also reads again all that changed so lately that its stat proves nothing. It
// is for idle moments: what it finds more than Take did came through memory maps.
func (w *Workspace) Settle(ctx context.Context) (Mark, error) { return w.take(ctx, settleAll) }

// LeftOut lists what the last Take did not cover, in the order of the paths.
func (w *Workspace) LeftOut() []Left {
	w.turn <- struct{}{}
	defer w.turn.give()
	return slices.Clone(w.left)
}

// State is the folder of the store.
func (w *Workspace) State() string { return w.opts.State }

// Content is a content of a file that is kept, by its hash.
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
