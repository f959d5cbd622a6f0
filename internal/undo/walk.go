package undo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/files/search/ignore"

	"golang.org/x/sync/errgroup"
)

// walker is one Take: it builds a new tree next to the previous one.
type walker struct {
	*Workspace
	ctx     context.Context
	now     time.Time
	ordered bool           // sequentially, so a limit hits the same entries each time
	team    errgroup.Group // additional workers
	idle    sync.Pool      // *hand
	changed atomic.Bool    // the tree differs from the previous one
	space   atomic.Int64   // bytes the store may still use
	settle  atomic.Int64   // bytes left to reread despite an unchanged stat
	charged [limitCount]atomic.Int64
	some    bool // only some paths are examined, sequentially
	moved   bool // an entry of those paths is or was left out

}

// hand is one worker of a walk with its reusable buffers.
type hand struct {
	*walker
	names names
	query ignore.Query
	buf   []byte
}

// scope holds the settings of the folder being walked.
type scope struct {
	path    string // from the root, with a trailing slash; "" for the root
	level   *ignore.Level
	ignored bool
	git     bool // inside a ".git"
	gitTop  bool // a ".git" itself, or that of a submodule inside it
}

func (w *Workspace) newWalker(ctx context.Context, settle int64) (*walker, error) {
	k := &walker{Workspace: w, ctx: ctx, now: w.opts.Now(), ordered: true}
	k.idle.New = func() any { return &hand{walker: k} }
	k.settle.Store(settle)
	free, _, err := space(k.opts.State)
	if err != nil {
		return nil, err
	}
	keep := k.opts.Limits.KeepFree
	if keep == 0 {
		keep = 1 << 30 // a percentage of a large disk would disable undo with tens of gigabytes free
	}
	k.space.Store(free - keep)
	return k, nil
}

func (k *walker) walk(root folder) (*dir, error) {
	h := &hand{walker: k}
	tree, err := h.read(root, scope{level: k.opts.Ignore.Root(k.opts.Root)}, k.tree)
	if other := k.team.Wait(); err == nil {
		err = other
	}
	return tree, err
}

func (k *hand) read(at folder, s scope, prev *dir) (*dir, error) {
	if err := k.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := at.read(&k.names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	slices.Sort(entries)
	s = k.inside(at, s, func(name string) bool { _, ok := slices.BinarySearch(entries, name); return ok })
	d := &dir{nodes: make([]node, 0, len(entries)), prev: prev}
	hint := 0
	for _, name := range entries {
		if strings.HasPrefix(name, tempPrefix) {
			continue
		}
		st, err := at.stat(name)
		if err != nil {
			continue // it was removed; not part of this state
		}
		ignored, covered := k.covers(s, name, st)
		if !covered {
			continue
		}
		d.nodes = append(d.nodes, node{name: name, stat: st, ignored: ignored})
		n := &d.nodes[len(d.nodes)-1] // does not move: the capacity suffices
		if err := k.node(at, s, n, prev.find(name, &hint)); err != nil {
			return nil, err
		}
	}
	if s.path == "" {
		d.self = rootEntry(at)
	}
	k.looked.Add(int64(len(d.nodes)))
	if prev == nil || len(prev.nodes) != len(d.nodes) || d.self != nil && (prev.self == nil || *prev.self != *d.self) {
		k.changed.Store(true)
	}
	return d, nil
}

// inside returns the scope for the entries of a folder. has reports whether it contains a name.
func (k *hand) inside(at folder, s scope, has func(name string) bool) scope {
	if s.path != "" && !s.git {
		s.level = k.rules(at, s, has)
	}
	s.gitTop = s.gitTop || s.git && has("HEAD") && has("objects")
	return s
}

// covers reports whether an entry is part of the state and whether it is ignored.
func (k *hand) covers(s scope, name string, st stat) (ignored, covered bool) {
	if k.opts.Skip != nil && st.isFolder() && st.mode&0o777 == 0o555 && k.opts.Skip(s.path+name) {
		return false, false
	}
	k.query.In(s.level)
	return s.ignored || !s.git && name != gitName && k.query.Ignored(name, st.isFolder()), true
}

// rootEntry returns the root's own entry, or nil if unknown.
func rootEntry(at folder) *Entry {
	e, err := at.look(".")
	if err != nil {
		return nil
	}
	return &e
}

// node fills in a node from disk, or from the previous node if stat is unchanged.
func (k *hand) node(at folder, s scope, n *node, was *node) error {
	switch {
	case n.stat.inode == k.state:
		leave(n, leftStore)
	case len(k.forgotten) > 0 && slices.Contains(k.forgotten, s.path+n.name):
		leave(n, leftForgotten)
	case s.git && s.gitTop && !gitKept(n.name):
		leave(n, leftGit)
	case n.stat.isFolder():
		return k.enter(at, s, n, was)
	case n.stat.isLink():
		n.Kind, n.Target = Symlink, at.readLink(n.name)
	case n.stat.isFile():
		return k.file(at, s, n, was)
	default:
		leave(n, leftSpecial)
	}
	k.compare(n, was)
	return nil
}

// compare records whether a node differs from the previous one.
func (k *walker) compare(n, was *node) {
	if was == nil || was.Entry != n.Entry || !was.stat.unchanged(n.stat) || was.recentlyChanged != n.recentlyChanged {
		k.changed.Store(true)
	}
}

// scopeOf returns a folder's scope given its parent's.
func (k *hand) scopeOf(s scope, n *node) scope {
	return scope{path: s.path + n.name + "/", level: s.level, ignored: n.ignored, git: s.git || n.name == gitName, gitTop: n.name == gitName}
}

func (k *hand) enter(at folder, s scope, n *node, was *node) error {
	next := k.scopeOf(s, n)
	if n.ignored && !next.git && made(n.name) {
		leave(n, leftMade)
		return nil
	}
	child, err := at.openFolder(n.name)
	if err != nil {
		leave(n, leftUnreadable)
		return nil
	}
	if n.ignored && !next.git {
		names, err := child.read(&k.names)
		if err != nil || len(names) > k.opts.Limits.IgnoredDir {
			child.close()
			leave(n, leftMade)
			return nil
		}
		if err := child.rewind(); err != nil {
			child.close()
			return err
		}
	}
	n.Kind, n.Mode = Folder, n.stat.mode&0o7777
	if was != nil && was.Kind == Folder && was.stat.unchanged(n.stat) {
		n.Attrs = was.Attrs
	} else {
		n.Attrs = attrsOf(child.fd)
	}
	var prev *dir
	if was != nil {
		prev = was.sub
	}
	switch {
	case was != nil && was.Kind == Folder && was.stat.inode == n.stat.inode:
		n.Target = was.Target
	case was == nil && k.uncovered[n.stat.inode]:
		n.Target = leftMoved
	}
	if was == nil || was.Kind != Folder || was.Mode != n.Mode || was.Attrs != n.Attrs {
		k.changed.Store(true)
	}
	return k.below(child, next, prev, n)
}

// below walks an open folder and closes it, using another worker if one is free and the folder is
// large.
func (k *hand) below(child folder, s scope, prev *dir, n *node) error {
	work := func(k *hand) (err error) {
		defer child.close()
		n.sub, err = k.read(child, s, prev)
		return err
	}
	if !k.ordered && k.team.TryGo(func() error {
		other := k.idle.Get().(*hand)
		defer k.idle.Put(other)
		return work(other)
	}) {
		return nil
	}
	return work(k)
}

// known reports whether a previous node's content is still stored. This process notices every
// deletion from the store.
func (k *walker) known(e Entry) bool {
	return k.fullyWalked && k.dropped == k.store.Dropped() || k.store.Has(e.Hash)
}
