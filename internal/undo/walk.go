package undo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/search/ignore"
	"adze/internal/undo/pack"
)

// walker is one Take: it makes a new tree beside the one of the Take before.
type walker struct {
	*Workspace
	ctx     context.Context
	now     time.Time
	settle  int64 // bytes that are still read again although their stat is unchanged
	linked  map[inode][]*node
	paths   map[*node]string // of linked nodes
	left    []Left
	changed bool
	space   int64 // bytes that the store may still take

	total, ignoredTotal, gitTotal int64
	names                         names
	buf                           []byte
}

// scope is what holds in the folder that is walked.
type scope struct {
	path    string // from the root, with a final slash; "" for the root
	level   *ignore.Level
	ignored bool
	git     bool // inside a ".git"
}

func (k *walker) walk() (*dir, error) {
	// Anew each time: the folder may have been removed and made again since.
	root, err := openRoot(k.opts.Root)
	if err != nil {
		return nil, err
	}
	k.root.close()
	k.root = root
	free, total, err := k.root.space(k.opts.State)
	if err != nil {
		return nil, err
	}
	keep := k.opts.Limits.KeepFree
	if keep == 0 {
		keep = max(1<<30, total/20)
	}
	k.space = free - keep
	k.paths = map[*node]string{}
	return k.folder(k.root, scope{level: k.opts.Ignore.Root(k.opts.Root)}, k.tree)
}

// folder walks one folder.
func (k *walker) folder(at folder, s scope, prev *dir) (*dir, error) {
	if err := k.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := at.read(&k.names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	slices.Sort(entries)
	if s.path != "" && !s.git {
		s.level = k.rules(at, s, entries)
	}
	var q ignore.Query
	q.In(s.level)
	d := &dir{nodes: make([]node, 0, len(entries)), prev: prev}
	hint := 0
	for _, name := range entries {
		if strings.HasPrefix(name, tempPrefix) {
			continue
		}
		st, err := at.stat(name)
		if err != nil {
			continue // it went away, and is not in this state
		}
		d.nodes = append(d.nodes, node{name: name, stat: st})
		n := &d.nodes[len(d.nodes)-1] // stays in place: the capacity is there
		n.ignored = s.ignored || !s.git && name != gitName && q.Ignored(name, st.isFolder())
		if err := k.node(at, s, n, prev.find(name, &hint)); err != nil {
			return nil, err
		}
	}
	k.changed = k.changed || prev == nil || len(prev.nodes) != len(d.nodes)
	return d, nil
}

// node fills in a node from what is there, or from what was before when stat says that it is the same.
func (k *walker) node(at folder, s scope, n *node, was *node) error {
	path := s.path + n.name
	switch {
	case n.stat.inode == k.state.inode:
		k.leave(n, path, leftStore)
	case s.git && s.top() && !gitKept(n.name):
		k.leave(n, path, leftGit)
	case n.stat.isFolder():
		return k.enter(at, s, n, was)
	case n.stat.isLink():
		n.Kind, n.Target = Symlink, at.readLink(n.name)
	case n.stat.isFile():
		return k.file(at, s, n, was)
	default:
		k.leave(n, path, leftSpecial)
	}
	k.changed = k.changed || was == nil || was.Entry != n.Entry || !was.stat.unchanged(n.stat)
	return nil
}

// top reports whether the folder is a ".git" itself.
func (s scope) top() bool { return s.path == gitName+"/" || strings.HasSuffix(s.path, "/"+gitName+"/") }

func (k *walker) enter(at folder, s scope, n *node, was *node) error {
	next := scope{path: s.path + n.name + "/", level: s.level, ignored: n.ignored, git: s.git || n.name == gitName}
	if n.ignored && !next.git && made(n.name) {
		k.leave(n, s.path+n.name, leftMade)
		return nil
	}
	child, err := at.openFolder(n.name)
	if err != nil {
		k.leave(n, s.path+n.name, leftUnreadable)
		return nil
	}
	defer child.close()
	if n.ignored && !next.git {
		names, err := child.read(&k.names)
		if err != nil || len(names) > k.opts.Limits.IgnoredDir {
			k.leave(n, s.path+n.name, leftMade)
			return nil
		}
		if err := child.rewind(); err != nil {
			return err
		}
	}
	n.Kind, n.Mode = Folder, n.stat.mode&0o7777
	var prev *dir
	if was != nil {
		prev = was.sub
	}
	n.sub, err = k.folder(child, next, prev)
	k.changed = k.changed || was == nil || was.Kind != Folder || was.Mode != n.Mode
	return err
}

// leave marks a node as not covered. That it is there, and of what size, is part of the state.
func (k *walker) leave(n *node, path, reason string) {
	n.Entry = Entry{Kind: LeftOut, Target: reason}
	var size int64
	if n.stat.isFile() {
		size = n.stat.size
		n.Target = fmt.Sprintf("%s; %d bytes, %d", reason, size, n.stat.mtime)
	}
	if reason != leftGit && reason != leftStore {
		k.left = append(k.left, Left{path, size, reason})
	}
}

// rules is the level of a folder: ignore files among its entries count from here on.
func (k *walker) rules(at folder, s scope, entries []string) *ignore.Level {
	var f ignore.Files
	has := func(name string) bool { _, ok := slices.BinarySearch(entries, name); return ok }
	if has(ignore.GitDir) {
		f.Repo, f.Excludes = true, k.opts.Ignore.Excludes(k.opts.Root+"/"+s.path)
	}
	if has(ignore.GitFile) {
		f.Git = readRules(at, ignore.GitFile)
	}
	if has(ignore.OwnFile) {
		f.Own = readRules(at, ignore.OwnFile)
	}
	name := strings.TrimSuffix(s.path, "/")
	return s.level.Enter(name[strings.LastIndexByte(name, '/')+1:], f)
}

// readRules parses an ignore file; one that cannot be read has no rules.
func readRules(at folder, name string) *ignore.Rules {
	text, _, err := at.readFile(name, ignore.MaxFile, nil)
	if err != nil {
		return nil
	}
	return ignore.Parse(text)
}

// groupLinks gives the files that share an inode the first of their paths.
func (k *walker) groupLinks() {
	for _, group := range k.linked {
		if len(group) < 2 {
			continue
		}
		first := k.paths[group[0]]
		for _, n := range group {
			first = min(first, k.paths[n])
		}
		for _, n := range group {
			n.Same = first
		}
	}
}

// known reports whether the content of a node of before can be relied on.
func (k *walker) known(h pack.Hash) bool { return k.store.Has(h) }
