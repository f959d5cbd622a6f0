// Package undo takes the state of a folder and tells what changed between two states.
//
// The one rule: a state says nothing that was not read. What it could not cover stands in it as left out.
//
// Start reading at Workspace.Take and Diff. Take walks the folder (walk.go), reads what its stat
// does not prove unchanged (node.go, content.go) and stores contents and listings by hash (package pack); a
// Mark is the hash of the topmost listing (listing.go), so that states share what is equal. table.go keeps
// what stat said, for the next run; it is only a cache. folder_linux.go is all that speaks to the system: everything is reached by the descriptor of its folder.
// Nothing is read through a link, no git is started, and neither FIFO nor device is opened.
//
// Known limits:
//   - Linux only: elsewhere Open returns ErrUnsupported.
//   - Take looks at every entry each time: there is no inotify in front of it yet, and one worker.
//   - Extended attributes, ACLs and owners are not kept.
//   - A write through a memory map that changes no timestamp is found within 40 seconds of the last change that
//     did, or by Settle, or not at all.
//   - Names are compared byte by byte. Nothing is put back yet, and no session takes states yet.
//   - Nothing is ever dropped from the store yet: neither by age nor by size.
package undo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/search/ignore"
	"adze/internal/undo/pack"
)

// Errors that callers decide by.
var (
	// ErrUnsupported means that this system has not what undo needs.
	ErrUnsupported = errors.New("undo is not available on this system")
	// ErrTooWide means that the folder is the person's home, or all of the disk.
	ErrTooWide = errors.New("the folder is too wide to be covered by undo")
)

// Options say what is covered and where it is kept.
type Options struct {
	Root   string // the folder that is covered, absolute
	State  string // the folder of the store; made when missing, itself never covered
	Home   string // the person's home, which is too wide; empty: not checked
	Limits Limits // zero fields mean the defaults
	Ignore ignore.Finder
	Now    func() time.Time // nil: time.Now
}

// Workspace is one folder with its states. It may be used by several goroutines; they wait for each other.
type Workspace struct {
	opts  Options
	store *pack.Store
	root  folder
	state stat // of the state folder, which is left out
	mu    sync.Mutex
	tree  *dir // what the last Take saw; nil before the first
	left  []Left
	saved bool // the table on disk is tree
}

// Mark is a state of the folder. Equal marks are equal states.
type Mark struct{ Tree pack.Hash }

func (m Mark) String() string { return m.Tree.String() }

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

// Open opens a folder and what is kept of it.
func Open(o Options) (*Workspace, error) {
	root := filepath.Clean(o.Root)
	if root == string(filepath.Separator) || o.Home != "" && root == filepath.Clean(o.Home) {
		return nil, fmt.Errorf("%s: %w", root, ErrTooWide)
	}
	o.Root, o.Limits = root, o.Limits.orDefault()
	if o.Now == nil {
		o.Now = time.Now
	}
	top, err := openRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", root, err)
	}
	w := &Workspace{opts: o, root: top}
	if w.store, err = pack.Open(filepath.Join(o.State, "packs")); err != nil {
		top.close()
		return nil, err
	}
	if err := os.Chmod(o.State, 0o700); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if w.state, err = statPath(o.State); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.tree = w.loadTable()
	w.saved = w.tree != nil
	return w, nil
}

// Close writes the table and lets go of everything.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.saveTable()
	w.root.close()
	return errors.Join(err, w.store.Close())
}

// Take stores the state of the folder and returns its mark. It is safe from a loss of power when Take
// returns. What changes while it looks is in the state as it was found, each file whole.
func (w *Workspace) Take(ctx context.Context) (Mark, error) { return w.take(ctx, settleSome) }

// Settle is Take that also reads again what changed so lately that its stat proves nothing.
func (w *Workspace) Settle(ctx context.Context) (Mark, error) { return w.take(ctx, settleAll) }

// LeftOut lists what the last Take did not cover, in the order of the paths.
func (w *Workspace) LeftOut() []Left {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Left(nil), w.left...)
}

func (w *Workspace) take(ctx context.Context, unsettled int64) (Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.takeLocked(ctx, unsettled)
}

func (w *Workspace) takeLocked(ctx context.Context, unsettled int64) (Mark, error) {
	k := &walker{Workspace: w, ctx: ctx, now: w.opts.Now(), settle: unsettled, linked: map[inode][]*node{}}
	tree, err := k.walk()
	if err != nil {
		return Mark{}, fmt.Errorf("take the state of %s: %w", w.opts.Root, err)
	}
	k.groupLinks()
	if err := w.list(tree); err != nil {
		return Mark{}, err
	}
	if err := w.store.Sync(); err != nil {
		return Mark{}, err
	}
	w.saved = w.saved && !k.changed
	w.tree, w.left = tree, k.left
	return Mark{tree.hash}, nil
}
