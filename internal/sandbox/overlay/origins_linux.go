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

// lostEntry is an entry with its name removed by the command.
type lostEntry struct {
	path    string
	stat    entry.Stat
	target  string  // a link's target
	removal *Change // the change removing the name
	used    bool
}

// origins finds the old paths of entries with new names.
type origins struct {
	*View
	top        *Change
	root       int
	lost       []*lostEntry
	byPath     map[string]*lostEntry
	files      []*Change
	newFolders []*Change            // new folders, parents first
	hardLinks  map[uint64][]*Change // copied files with several names, by inode
}

func (v *View) findOrigins(top *Change) error {
	o := origins{View: v, top: top, root: top.Root, byPath: map[string]*lostEntry{}, hardLinks: map[uint64][]*Change{}}
	top.Walk(func(c *Change) bool {
		if c.Kind == apply.File && c.Upper.Links > 1 {
			o.hardLinks[c.Upper.Ino] = append(o.hardLinks[c.Upper.Ino], c)
		}
		switch {
		case c.SkipReason != "":
		case c.Kind == apply.New:
			o.newFolders = append(o.newFolders, c)
		case c.Kind == apply.File:
			o.files = append(o.files, c)
		}
		return true
	})
	for _, c := range v.opened {
		if c.Root == top.Root && c.Upper.Links > 1 {
			o.hardLinks[c.Upper.Ino] = append(o.hardLinks[c.Upper.Ino], c)
		}
	}
	if len(o.files)+len(o.hardLinks)+len(o.newFolders) == 0 {
		return nil
	}
	if err := o.findLost(); err != nil {
		return err
	}
	for _, c := range o.newFolders {
		if err := o.renamedFolder(c); err != nil {
			return err
		}
	}
	for _, c := range o.files {
		if l := o.byPath[o.oldPath(c)]; l != nil && !l.used && c.Origin == nil && o.mayBe(c, l) {
			c.Copied = true
			o.take(c, l)
		}
	}
	o.linked()
	v.unclaimed = v.unclaimed || slices.ContainsFunc(o.lost, func(l *lostEntry) bool { return !l.used && l.stat.IsFile() })
	return nil
}

// findLost collects files and links without their old names.
func (o *origins) findLost() (err error) {
	o.top.Walk(func(c *Change) bool {
		switch {
		case err != nil || c.SkipReason != "" || c.Kind == apply.Merged || !c.Lower.Exists():
		case c.Lower.IsFolder():
			err = o.lostBelow(c, c.Path)
		case c.Kind != apply.File || !o.own(c) || o.oldPath(c) != "" && o.oldPath(c) != c.Path:
			o.lose(c, c.Path, c.Lower)
		}
		return err == nil
	})
	return err
}

func (o *origins) lose(c *Change, path string, st entry.Stat) {
	l := &lostEntry{path: path, stat: st, removal: c}
	if st.HasType(unix.S_IFLNK) {
		l.target, _ = os.Readlink(filepath.Join(o.Roots[o.root].Path, path))
	}
	o.lost = append(o.lost, l)
	o.byPath[path] = l
}

func (o *origins) lostBelow(c *Change, path string) error {
	fd, err := o.OpenBelow(o.root, path)
	if err != nil {
		return nil // removed meanwhile
	}
	defer unix.Close(fd)
	names, err := entry.Names(fd)
	if err != nil {
		return nil
	}
	o.byPath[path] = &lostEntry{path: path, removal: c}
	if o.byPath[path].stat, err = entry.StatAt(fd, ""); err != nil {
		return err
	}
	for _, name := range names {
		st, err := entry.StatAt(fd, name)
		switch {
		case err != nil:
			continue
		case st.IsFolder():
			err = o.lostBelow(c, filepath.Join(path, name))
		default:
			o.lose(c, filepath.Join(path, name), st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// renamedFolder finds the old path of a renamed folder. Its whole content moves with it, including
// files added by others.
func (o *origins) renamedFolder(c *Change) error {
	path := o.oldPath(c)
	old := o.byPath[path]
	if path == "" || old == nil || old.used || !old.stat.IsFolder() || c.Origin != nil {
		return nil
	}
	return o.takeFolder(c, old)
}

// oldPath returns the entry's old path in the root, recorded by the listener at the rename (package
// seccomptrace). It returns "" for an entry from elsewhere and for a copy of a renamed one.
func (o *origins) oldPath(c *Change) string {
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
	for _, dir := range slices.Backward(o.newFolders) { // renamed before
		if rest, ok := strings.CutPrefix(path, dir.Path+"/"); ok && dir.Origin != nil && o.byPath[path] == nil {
			return filepath.Join(dir.Origin.Path, rest)
		}
	}
	return path
}

// takeFolder makes c the renamed folder old. Missing content counts as removed or renamed.
func (o *origins) takeFolder(c *Change, old *lostEntry) error {
	old.used = true
	c.Origin = &Origin{Path: old.path, Stat: old.stat, Removal: old.removal}
	fd, err := o.OpenBelow(o.root, old.path)
	if err != nil {
		return nil // removed meanwhile
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

// takeChild decides whether an entry in a renamed folder is the old one.
func (o *origins) takeChild(child *Change, was *lostEntry) error {
	same := false
	switch child.Kind {
	case apply.New:
		if before := o.oldPath(child); was.stat.IsFolder() && (before == "" || before == was.path) {
			err := o.takeFolder(child, was)
			child.Origin.InRenamedFolder = true
			return err
		}
	case apply.File:
		before := o.oldPath(child)
		same = o.mayBe(child, was) && (before == "" || before == was.path)
	case apply.Link:
		same = was.stat.HasType(unix.S_IFLNK) && was.target == child.Target
	}
	if same {
		o.take(child, was)
		child.Copied, child.Origin.InRenamedFolder = child.Kind == apply.File, true
		return nil
	}
	child.Lower, child.was = was.stat, was.path
	o.goesBy(was, child)
	return nil
}

// missing adds the removal of an entry from a renamed folder, unless somebody else added it
// meanwhile: the command never saw it.
func (o *origins) missing(dir *Change, name string, lower int, was *lostEntry) error {
	switch {
	case entry.Later(was.stat.Born, o.ViewTime):
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

// goesBy makes c the change that removes the entry's name and those below it.
func (o *origins) goesBy(was *lostEntry, c *Change) {
	was.removal = c
	if !was.stat.IsFolder() {
		return
	}
	for path, l := range o.byPath {
		if strings.HasPrefix(path, was.path+"/") {
			l.removal = c
		}
	}
}

// mayBe reports whether a file can be a copy of a lost one. Unmarked copies count only with equal
// content and time: another file may be new, and writing it into the old inode would change the old
// one's other names.
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

func (o *origins) compareWith(c *Change, path string) (content entry.Content, attributes bool) {
	dir, err := o.OpenBelow(o.root, filepath.Dir(path))
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

func (o *origins) take(c *Change, l *lostEntry) {
	l.used = true
	c.Origin = &Origin{Path: l.path, Stat: l.stat, Removal: l.removal}
	if c.Kind == apply.File {
		c.Content, c.attributes = o.compareWith(c, l.path)
	}
}

// linked finds the names that the command added to files. The first name is the file's own or the
// one after a rename.
func (o *origins) linked() {
	for _, names := range o.hardLinks {
		own := -1
		for _, is := range []func(*Change) bool{
			func(c *Change) bool { return c.Kind == 0 },
			func(c *Change) bool { return c.Origin == nil && o.own(c) && c.Content == entry.Same },
			func(c *Change) bool { return c.Origin == nil && o.own(c) },
			func(c *Change) bool { return c.Origin != nil && c.Origin.InRenamedFolder },
			func(c *Change) bool { return c.Origin != nil },
			func(*Change) bool { return true },
		} {
			if own < 0 {
				own = slices.IndexFunc(names, is)
			}
		}
		was, ok := o.writes(names[own])
		if names[own].Kind == 0 {
			was = names[own].Lower
		} else if !ok {
			was = names[own].Upper
		}
		for i, c := range names {
			if i != own && (c.Origin == nil || !c.Origin.InRenamedFolder) {
				if c.Origin != nil {
					o.byPath[c.Origin.Path].used = false
				}
				if c.Origin = nil; entry.Later(names[own].Lower.Born, o.ViewTime) { // somebody else replaced it
					c.Copied, c.apart = false, true
					continue
				}
				c.Origin = &Origin{Path: names[own].Path, Stat: was, Link: true}
			}
		}
	}
}
