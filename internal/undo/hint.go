package undo

import (
	"strings"

	"adze/internal/files/fsnotify"
	"adze/internal/files/search/ignore"
)

// hint is what a Take need not look at, by what the system told since the last one. Whatever does
// not fit together makes it a walk of everything instead.
type hint struct {
	dirty   map[string]bool   // folders that are read
	above   map[string]bool   // folders that have dirty ones below
	charged [limitCount]int64 // bytes of the files that are not looked at
	settle  int64
}

// names reports whether a folder, or one below it, is to be read.
func (h *hint) names(path string) bool { return h.dirty[path] || h.above[path] }

// mark makes a folder one that is read.
func (h *hint) mark(path string) {
	h.dirty[path] = true
	for path != "" {
		path = path[:strings.LastIndexByte(path[:len(path)-1], '/')+1]
		if h.above[path] {
			return
		}
		h.above[path] = true
	}
}

// settleHinted is how many bytes a Take with hints reads again although their stat is unchanged. It
// is less than without: a write is told, and the end of a memory map too.
const settleHinted = 256 << 10

// hints judges what was told; nil means that all is walked.
func (w *Workspace) hints(root folder, settle int64) *hint {
	if w.watch == nil || w.tree == nil || w.groups == nil || w.fsEvents.All || w.overLimit || w.dropped != w.store.Dropped() {
		return nil
	}
	h := &hint{dirty: map[string]bool{}, above: map[string]bool{}, settle: min(settle, settleHinted)}
	for path, names := range w.fsEvents.Folders {
		if changesRules(path, names) {
			return nil
		}
		h.mark(path)
	}
	if top, err := root.stat("."); err != nil || top.inode != w.top {
		return nil
	}
	if w.tracksLeftOut() {
		return nil
	}
	c := checker{w: w, root: root, hint: h, unsettled: h.settle}
	if !c.folder("", w.tree) {
		return nil
	}
	return h
}

// changesRules reports whether what happened may change which files are ignored below.
func changesRules(path string, names map[string]bool) bool {
	for name := range names {
		switch name {
		case ignore.GitDir, ignore.JJDir, ignore.GitFile, ignore.OwnFile:
			return true
		case "config":
			if strings.HasSuffix(path, gitName+"/") {
				return true
			}
		case "exclude":
			if strings.HasSuffix(path, gitName+"/info/") {
				return true
			}
		}
	}
	return false
}

// checker goes through the tree of before, for what was told is no proof: a folder with another
// stat of which nothing was told means that something was lost.
type checker struct {
	w         *Workspace
	root      folder
	hint      *hint
	unsettled int64
}

func (c *checker) folder(path string, d *dir) bool {
	h := c.hint
	git := path == gitName+"/" || strings.HasPrefix(path, OuterGit+"/") || strings.Contains("/"+path, "/"+gitName+"/")
	var charged [limitCount]int64
	again := false
	for i := range d.nodes {
		n := &d.nodes[i]
		switch n.Kind {
		case Folder:
			if !c.below(path, n) {
				return false
			}
		case File:
			charged[c.w.opts.Limits.of(git, n.ignored, n.Size)] += n.Size
			// A file with more names changes without a word in this folder.
			again = again || n.stat.links > 1
			if cost := n.rereading(); n.lately && c.unsettled >= cost {
				c.unsettled -= cost
				again = true
			}
		case LeftOut:
			again = again || strings.HasPrefix(n.Target, leftUnreadable) || strings.HasPrefix(n.Target, leftUnstable)
		}
	}
	switch {
	case h.dirty[path]: // it is charged when it is read
	case again:
		h.mark(path)
	default:
		for i := range charged {
			h.charged[i] += charged[i]
		}
	}
	return true
}

func (c *checker) below(path string, n *node) bool {
	child := path + n.name + "/"
	st, err := c.root.stat(child[:len(child)-1])
	told := c.hint.dirty[child] || c.hint.dirty[path]
	if !told && (err != nil || st.mode != n.stat.mode || !st.unchanged(n.stat) || !c.w.watch.Watching(child)) {
		return false
	}
	return c.folder(child, n.sub)
}

// A small folder is looked at as a whole for the first states. A process that has watched folders
// ends 16 ms late, because the kernel waits until nobody can be told of them any more; to look at a
// few entries a few times takes less.
const (
	smallFolder = 300 // entries
	fewWalks    = 8
)

// small reports that there are few entries, as far as it is known.
func (d *dir) small() bool {
	return d == nil || d.count(smallFolder+1) <= smallFolder
}

// count counts entries up to some number.
func (d *dir) count(most int) int {
	n := len(d.nodes)
	for i := range d.nodes {
		if n >= most {
			break
		}
		if sub := d.nodes[i].sub; sub != nil {
			n += sub.count(most - n)
		}
	}
	return n
}

// beginWatching begins before everything is walked, when it is not begun or was given up.
func (w *Workspace) beginWatching(root folder) {
	if w.watch != nil && w.fsEvents.All {
		w.stopWatching(nil) // begin anew, with what is there now
	}
	if top, err := root.stat("."); err != nil || top.inode != w.top {
		w.stopWatching(nil)
		w.top = top.inode
	}
	if w.watch == nil && w.unwatched == nil {
		if w.walks++; !w.opts.eager && w.walks <= fewWalks && w.tree.small() {
			return
		}
		w.watch, w.unwatched = fsnotify.New(root.fd, w.opts.Watches)
	}
}

// stopWatching ends watching; not for ever when why is nil.
func (w *Workspace) stopWatching(why error) {
	if w.watch != nil {
		w.watch.Close()
	}
	w.watch, w.unwatched, w.fsEvents = nil, why, fsnotify.Changed{}
}

// keepWatch watches a folder before it is read, unless it is watched.
func (k *walker) keepWatch(at folder, s scope) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watch == nil || !s.fresh && k.watch.Watching(s.path) {
		return
	}
	if err := k.watch.Add(at.fd, s.path); err != nil {
		k.stopWatching(err)
	}
}

// Unwatched says why each Take looks at everything; nil when the system tells what changes, so that
// a Take looks only there.
func (w *Workspace) Unwatched() error {
	w.turn <- struct{}{}
	defer w.turn.give()
	return w.unwatched
}
