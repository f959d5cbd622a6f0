package overlay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// lostEntry is an entry of a root whose name the command took away.
type lostEntry struct {
	path   string
	stat   entry.Stat
	target string  // of a link
	gone   *Change // that takes it away
	used   bool
}

// origins finds for each entry that the command gave a name where it was before.
type origins struct {
	*View
	top     *Change
	root    int
	lost    []*lostEntry
	byTime  map[[3]int64][]*lostEntry // by time of access, and by size and time, of which renaming changes none
	byPath  map[string]*lostEntry
	orphans []*Change            // copied files without one of their own below
	others  []*Change            // what may have been renamed, but need not
	made    []*Change            // folders that are new in the view, parents first
	twins   map[uint64][]*Change // copied files by inode, where the command made several names
}

// findOrigins sets From of what was renamed and linked.
func (v *View) findOrigins(top *Change) error {
	o := origins{View: v, top: top, root: top.Root, byTime: map[[3]int64][]*lostEntry{}, byPath: map[string]*lostEntry{}, twins: map[uint64][]*Change{}}
	top.Walk(func(c *Change) bool {
		if c.Kind == apply.File && c.Upper.Links > 1 {
			o.twins[c.Upper.Ino] = append(o.twins[c.Upper.Ino], c)
		}
		switch {
		case c.Left != "":
		case c.Kind == apply.New:
			o.made = append(o.made, c)
		case c.Kind == apply.File && c.Copied && !c.Lower.IsFile():
			o.orphans = append(o.orphans, c)
		case c.Kind == apply.File && (!c.Copied || c.Content != entry.Same), c.Kind == apply.Link:
			o.others = append(o.others, c)
		}
		return true
	})
	for _, c := range v.opened {
		if c.Root == top.Root && c.Upper.Links > 1 {
			o.twins[c.Upper.Ino] = append(o.twins[c.Upper.Ino], c)
		}
	}
	if len(o.orphans)+len(o.others)+len(o.twins)+len(o.made) == 0 {
		return nil
	}
	if err := o.findLost(); err != nil {
		return err
	}
	for _, c := range o.made {
		if err := o.renamedFolder(c); err != nil {
			return err
		}
	}
	o.match()
	o.linked()
	v.unclaimed = v.unclaimed || slices.ContainsFunc(o.lost, func(l *lostEntry) bool { return !l.used && l.stat.IsFile() })
	return nil
}

// findLost lists the files and links that lost their names.
func (o *origins) findLost() (err error) {
	o.top.Walk(func(c *Change) bool {
		switch {
		case err != nil || c.Left != "" || c.Kind == apply.Merged || !c.Lower.There():
		case c.Lower.IsFolder():
			err = o.lostBelow(c, c.Path)
		case c.Kind != apply.File || !o.own(c) || c.Content == entry.Differs && !c.written():
			err = o.lose(c, c.Path, c.Lower)
		}
		return err == nil
	})
	return err
}

func (o *origins) lose(c *Change, path string, st entry.Stat) error {
	l := &lostEntry{path: path, stat: st, gone: c}
	if st.Is(unix.S_IFLNK) {
		l.target, _ = os.Readlink(filepath.Join(o.Roots[o.root].Path, path))
	}
	o.lost = append(o.lost, l)
	o.byPath[path] = l
	for _, key := range keysOf(st) {
		o.byTime[key] = append(o.byTime[key], l)
	}
	return nil
}

func keysOf(st entry.Stat) [][3]int64 {
	return [][3]int64{{-1, st.Accessed[0], st.Accessed[1]}, {st.Size, st.Modified[0], st.Modified[1]}}
}

func (o *origins) lostBelow(c *Change, path string) error {
	fd, err := o.Beneath(o.root, path)
	if err != nil {
		return nil // it went meanwhile
	}
	defer unix.Close(fd)
	names, err := entry.Names(fd)
	if err != nil {
		return nil
	}
	o.byPath[path] = &lostEntry{path: path, gone: c}
	if o.byPath[path].stat, err = entry.At(fd, ""); err != nil {
		return err
	}
	for _, name := range names {
		st, err := entry.At(fd, name)
		switch {
		case err != nil:
			continue
		case st.IsFolder():
			err = o.lostBelow(c, filepath.Join(path, name))
		default:
			err = o.lose(c, filepath.Join(path, name), st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// renamedFolder finds where a new folder was before the command renamed it. All that lies in the
// folder goes with it, whoever put it there.
func (o *origins) renamedFolder(c *Change) error {
	path := o.before(c)
	old := o.byPath[path]
	if path == "" || old == nil || old.used || !old.stat.IsFolder() || c.From != nil {
		return nil
	}
	return o.takeFolder(c, old)
}

// before is the path at which a folder was in the root, as the listener that renamed it has noted
// (package seccomptrace). It is empty where the folder is new, or the copy of a renamed one.
func (o *origins) before(c *Change) string {
	value := make([]byte, unix.PathMax+64)
	n, err := unix.Lgetxattr(o.Place(c), seccomptrace.Moved, value)
	if err != nil {
		return ""
	}
	was, _, _ := strings.Cut(string(value[:n]), "\x00")
	path, err := filepath.Rel(o.Roots[o.root].Path, was)
	if err != nil || !filepath.IsLocal(path) || path == "." || string(value[:n]) != seccomptrace.MovedValue(was, c.Upper.Born[0], c.Upper.Born[1]) {
		return ""
	}
	return path
}

// takeFolder says that a folder is one that was there. What was in that and is no more has been
// removed, or has got another name.
func (o *origins) takeFolder(c *Change, old *lostEntry) error {
	old.used = true
	c.From = &Origin{Path: old.path, Stat: old.stat, Gone: old.gone}
	fd, err := o.Beneath(o.root, old.path)
	if err != nil {
		return nil // it went meanwhile
	}
	defer unix.Close(fd)
	c.attributes = o.dressedAs(c, fd)
	names, err := entry.Names(fd)
	if err != nil {
		return err
	}
	slices.Sort(names)
	children := map[string]*Change{}
	for _, child := range c.Children {
		children[filepath.Base(child.Path)] = child
	}
	for _, name := range names {
		was, child := o.byPath[filepath.Join(old.path, name)], children[name]
		switch {
		case was == nil || was.used:
		case child != nil:
			err = o.takeChild(child, was)
		default:
			err = o.missing(c, name, fd, was)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeChild decides whether an entry of a renamed folder is the one that was in it.
func (o *origins) takeChild(child *Change, was *lostEntry) error {
	same := false
	switch child.Kind {
	case apply.New:
		if before := o.before(child); was.stat.IsFolder() && (before == "" || before == was.path) {
			err := o.takeFolder(child, was)
			child.From.Whole = true
			return err
		}
	case apply.File:
		same = o.mayBe(child, was)
	case apply.Link:
		same = was.stat.Is(unix.S_IFLNK) && was.target == child.Target
	}
	if same {
		o.take(child, was)
		child.Copied, child.From.Whole = child.Kind == apply.File, true
		return nil
	}
	child.Lower, child.was = was.stat, was.path
	o.goesBy(was, child)
	return nil
}

// missing adds the removal of an entry that was in a renamed folder. One that somebody else made
// meanwhile is not missing: the command has never seen it.
func (o *origins) missing(dir *Change, name string, lower int, was *lostEntry) error {
	switch {
	case entry.Later(was.stat.Born, o.Since):
		dir.followed = append(dir.followed, filepath.Join(dir.Path, name))
		return nil
	case slices.Contains(o.Roots[o.root].Hidden, was.path):
		return nil
	}
	c := &Change{Root: dir.Root, Path: filepath.Join(dir.Path, name), Parent: dir, Kind: apply.Removed, Lower: was.stat, decided: decided{was: was.path}}
	if err := o.readRemoved(c, name, lower); err != nil {
		return err
	}
	dir.Children = append(dir.Children, c)
	o.goesBy(was, c)
	return nil
}

// goesBy says by which change an entry loses its name, with all that is in it.
func (o *origins) goesBy(was *lostEntry, c *Change) {
	was.gone = c
	if !was.stat.IsFolder() {
		return
	}
	for path, l := range o.byPath {
		if strings.HasPrefix(path, was.path+"/") {
			l.gone = c
		}
	}
}

// sameFile is the least rating of a file whose content says that it is another one.
const sameFile = 6

// far rates how likely an entry was another one before; if 0, it was not.
func (o *origins) far(c *Change, l *lostEntry) (score int) {
	if c.Kind == apply.Link {
		if l.stat.Is(unix.S_IFLNK) && l.target == c.Target && l.stat.Modified == c.Upper.Modified {
			score = 4
		}
	} else if l.stat.UID == c.Upper.UID && o.mayBe(c, l) {
		sameTime := l.stat.Modified == c.Upper.Modified
		switch content, _ := o.compareWith(c, l.path); {
		case content == entry.Same && sameTime:
			score = 8
		case content == entry.Same, sameTime && content == entry.Behind:
			score = sameFile
		case (content == entry.Grown && l.stat.Size > 0) || content == entry.Behind && c.Upper.Size > 0:
			score = 5
		case l.stat.Accessed == c.Upper.Accessed:
			score = 3
		case l.stat.Mode == c.Upper.Mode && c.Upper.Size > 0 && (filepath.Base(l.path) == filepath.Base(c.Path) || len(o.orphans) == 1 && len(o.lost) == 1):
			score = 2
		}
	}
	if score > 0 && filepath.Base(l.path) == filepath.Base(c.Path) {
		score++
	}
	return score
}

// mayBe reports that a file of ours can be a copy of one of the root. Where the kernel marks none,
// only one of the same content and time is: any other may be a new file, and written into the old
// one it would change that under its other names.
func (o *origins) mayBe(c *Change, l *lostEntry) bool {
	if !l.stat.IsFile() || c.Copied != o.marks(l.stat) {
		return false
	}
	if c.Copied || c.Upper.Modified != l.stat.Modified || c.Upper.Size != l.stat.Size {
		return c.Copied
	}
	content, _ := o.compareWith(c, l.path)
	return content == entry.Same
}

// compareWith compares a file of ours with one of the root, and whether the attributes of both are
// the same.
func (o *origins) compareWith(c *Change, path string) (content entry.Content, attributes bool) {
	dir, err := o.Beneath(o.root, filepath.Dir(path))
	if err != nil {
		return entry.Differs, false
	}
	defer unix.Close(dir)
	_ = o.open2(c, dir, filepath.Base(path), func(ours, there *os.File) error {
		info, err := there.Stat()
		if err == nil {
			content, err = entry.CompareContent(ours, there, c.Upper.Size, info.Size())
			attributes = entry.SameAttributes(int(ours.Fd()), int(there.Fd()))
		}
		return err
	})
	return content, attributes
}

// match gives each file and link without an entry of its own the one that it most likely was.
func (o *origins) match() {
	all := slices.Concat(o.orphans, o.others)
	for _, c := range slices.Concat(all, all) { // again, for those whose own entry has got another name by then
		if c.From != nil {
			continue
		}
		var candidates []*lostEntry
		for _, key := range keysOf(c.Upper) {
			candidates = append(candidates, o.byTime[key]...)
		}
		best, score := o.best(c, candidates)
		switch {
		case best == nil:
		case c.Lower.IsFile() && (o.byPath[c.Path] == nil || !o.byPath[c.Path].used) && score < sameFile: // it is the one that was there, rather
		default:
			c.Copied = c.Kind == apply.File
			o.take(c, best)
		}
	}
	for _, c := range o.orphans {
		if c.From == nil && len(o.lost) <= mostCompared {
			if best, _ := o.best(c, o.lost); best != nil {
				o.take(c, best)
			}
		}
	}
}

// mostCompared bounds the files whose content a renamed and changed file is compared with.
const mostCompared = 200

func (o *origins) best(c *Change, candidates []*lostEntry) (best *lostEntry, most int) {
	for _, l := range candidates {
		if l.used || l.path == c.Path {
			continue
		}
		if score := o.far(c, l); score > most {
			best, most = l, score
		}
	}
	return best, most
}

func (o *origins) take(c *Change, l *lostEntry) {
	l.used = true
	c.From = &Origin{Path: l.path, Stat: l.stat, Gone: l.gone}
	if c.Kind == apply.File {
		c.Content, c.attributes = o.compareWith(c, l.path)
	}
}

// linked finds the other names that the command gave to files: the first name is the file's own, or
// the one to which it was renamed.
func (o *origins) linked() {
	for _, names := range o.twins {
		own := slices.IndexFunc(names, func(c *Change) bool { return c.Kind == 0 })
		for _, is := range []func(entry.Content) bool{func(is entry.Content) bool { return is == entry.Same }, func(entry.Content) bool { return true }} {
			if own < 0 {
				own = slices.IndexFunc(names, func(c *Change) bool { return c.From == nil && o.own(c) && is(c.Content) })
			}
		}
		if own < 0 {
			own = slices.IndexFunc(names, func(c *Change) bool { return c.From != nil && c.From.Whole })
		}
		if own < 0 {
			own = max(0, slices.IndexFunc(names, func(c *Change) bool { return c.From != nil }))
		}
		was, ok := o.writes(names[own])
		if names[own].Kind == 0 {
			was = names[own].Lower
		} else if !ok {
			was = names[own].Upper
		}
		for i, c := range names {
			if i != own && (c.From == nil || !c.From.Whole) {
				if c.From != nil {
					o.byPath[c.From.Path].used = false
				}
				if c.From = nil; entry.Later(names[own].Lower.Born, o.Since) { // somebody else put another one there
					c.Copied = false
					continue
				}
				c.From = &Origin{Path: names[own].Path, Stat: was, Link: true}
			}
		}
	}
}
