package overlay

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

type decided struct {
	act        apply.Act // for an existing file; 0 means write
	attributes bool      // equal to those of the file below
	was        string    // path before its folder's rename, for an entry that goes away
	renamed    bool      // a removed entry has a new name
	apart      bool      // a copy in place of a link
	followed   []string  // paths added by others to a renamed folder
}

// settle leaves out changes clashing with others', and those tied to them.
func (v *View) settle(changes []*Change) {
	var all []*Change
	v.wholeFolders(changes)
	v.pair(changes)
	eachToApply(changes, func(c *Change) {
		if c.Origin != nil && c.Origin.Removal != nil && (c.Origin.Removal.Path == c.Origin.Path || c.Origin.Removal.was == c.Origin.Path) {
			c.Origin.Removal.renamed = true
		}
	})
	eachToApply(changes, func(c *Change) {
		all = append(all, c)
		if !c.Known && c.Kind != apply.Merged {
			c.SkipReason = v.clash(c)
		}
		if c.renamed {
			c.Lower = entry.Stat{} // the old entry is gone by then
		}
	})
	v.sets(all)
	v.pair(changes)
	v.apart(all)
}

func eachToApply(changes []*Change, do func(*Change)) {
	for _, top := range changes {
		top.Walk(func(c *Change) bool {
			if c.SkipReason != "" || c.Dropped {
				return false
			}
			do(c)
			return true
		})
	}
}

// Newly reports whether a change clashes with others' since the stage was made.
func (v *View) Newly(changes []*Change) (newly bool) {
	eachToApply(changes, func(c *Change) {
		newly = newly || !c.Known && c.Kind != apply.Merged && v.clash(c) != ""
	})
	v.FreeLeases()
	return newly
}

// pair leaves out both ends of a rename if one is left out, and so on along a chain of renames.
func (v *View) pair(changes []*Change) {
	for more := true; more; {
		more = false
		for _, top := range changes {
			top.Walk(func(c *Change) bool {
				from := c.Origin
				switch {
				case from == nil || from.InRenamedFolder || from.Removal == nil:
				case from.Removal.Dropped:
					c.Origin, c.Copied = nil, false
				case (c.SkipReason == "") != (from.Removal.SkipReason == ""):
					c.SkipReason = cmp.Or(c.SkipReason, from.Removal.SkipReason)
					from.Removal.SkipReason, more = c.SkipReason, true
				}
				return true
			})
		}
	}
}

// wholeFolders decides on renamed folders, which move with all their content. If part of the
// content is left out, the folder stays; if the user dropped part of it, the folder is copied.
func (v *View) wholeFolders(changes []*Change) {
	for _, top := range changes {
		top.Walk(func(c *Change) bool {
			if c.Kind != apply.New || c.Origin == nil || c.Origin.InRenamedFolder {
				return true
			}
			why, dropped := "", c.Origin.Removal.Dropped
			c.Walk(func(below *Change) bool {
				why, dropped = cmp.Or(why, below.SkipReason), dropped || below.Dropped
				return true
			})
			switch why = cmp.Or(why, c.Origin.Removal.SkipReason); {
			case why != "":
				c.SkipReason = why
				c.Origin.Removal.SkipReason = cmp.Or(c.Origin.Removal.SkipReason, why)
			case dropped:
				copied(c)
			}
			return c.SkipReason == ""
		})
	}
}

// apart replaces a link to a left-out file by a copy.
func (v *View) apart(all []*Change) {
	left := map[string]bool{}
	for _, c := range all {
		left[v.Real(c)] = c.SkipReason != ""
	}
	for _, c := range all {
		if c.Origin != nil && c.Origin.Link && left[filepath.Join(v.Roots[c.Root].Path, c.Origin.Path)] {
			c.Origin, c.Copied, c.apart = nil, false, true
		}
	}
}

// copied turns a renamed folder into a new one with its remaining content.
func copied(folder *Change) {
	folder.Walk(func(c *Change) bool {
		c.Lower, c.Origin, c.Copied = entry.Stat{}, nil, false
		c.Dropped = c.Dropped || c.Kind == apply.Removed
		return true
	})
}

// writes reports whether a change modifies an existing file, perhaps under a new name, and returns
// that file.
func (v *View) writes(c *Change) (entry.Stat, bool) {
	switch {
	case c.Kind != apply.File || !c.Copied:
	case c.Origin != nil && !c.Origin.Link:
		return c.Origin.Stat, true
	case c.Origin == nil && v.own(c):
		return c.Lower, true
	}
	return entry.Stat{}, false
}

// clash returns why a change clashes with others' changes, or "". For changes to existing files it
// also sets how.
func (v *View) clash(c *Change) string {
	if c.Lower.Exists() {
		now, err := v.Look(c.Root, cmp.Or(c.was, c.Path))
		if now.ID() != c.Lower.ID() && (err == nil || c.Kind != apply.Removed || c.renamed) {
			return apply.WhyNewer // since Changes
		}
	}
	if base, ok := v.writes(c); ok {
		if v.vanished && c.Origin == nil && c.Content != entry.Same && !v.Newer(base) && (!c.written() || c.Upper.Accessed != base.Accessed && !entry.Later(c.Upper.Accessed, v.ViewTime)) {
			return apply.WhyGone // it was another file, now gone
		}
		if why := v.clashInPlace(c, base); why != "" || c.Origin == nil {
			return why
		}
	} else if c.Copied && c.Kind == apply.File && c.Origin == nil && !c.Lower.Exists() && !v.unclaimed {
		return apply.WhyGone
	}
	if v.Newer(c.Lower) && !c.renamed {
		return apply.WhyNewer
	}
	return ""
}

// clashInPlace is clash for a change to the existing file base.
func (v *View) clashInPlace(c *Change, base entry.Stat) string {
	newer := v.Newer(base)
	c.act = apply.ActWrite
	switch {
	case c.Content == entry.Same:
		c.act = apply.ActDress
		if newer && !entry.Later(base.Modified, v.ViewTime) && (c.Origin != nil && !c.Origin.InRenamedFolder || !entry.SameOwner(c.Upper, base)) {
			return apply.WhyNewer // its attributes or names
		}
		return ""
	case c.Content == entry.Behind && newer && !c.written() && (c.Origin == nil || c.Origin.InRenamedFolder):
		c.act = apply.ActDress // the command wrote nothing
		return ""
	case newer:
		return apply.WhyNewer
	}
	who, held := v.hold(c, base)
	switch {
	case !held:
	case entry.LockedByOthers(base.ID()):
		return "a lock of another program is on it" + who
	case c.Content == entry.Grown:
		c.act = apply.ActExtend
	default:
		return "another program has it open" + who
	}
	return ""
}

// setOf returns the database of an SQLite journal (sqlite.org/tempfiles.html), or the path itself.
func setOf(path string) string {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if base, ok := strings.CutSuffix(path, suffix); ok && filepath.Base(path) != suffix {
			return base
		}
	}
	return path
}

// sets leaves out all files of a database if another program has it open or one of them is left
// out, and files beside a held lock.
func (v *View) sets(all []*Change) {
	for _, c := range all {
		base := setOf(c.Path)
		if c.Kind == apply.Merged || c.Kind == apply.New || c.Path == "" || base == c.Path && !entry.IsDatabase(v.Place(c)) {
			continue
		}
		if why := cmp.Or(c.SkipReason, v.databaseInUse(c.Root, base)); why != "" {
			for _, m := range c.Parent.Children {
				if setOf(m.Path) == base && m.Kind != apply.New && m.Kind != apply.Merged && !m.Dropped {
					m.SkipReason = cmp.Or(m.SkipReason, why)
				}
			}
		}
	}
	v.lockFiles(all)
}

// databaseInUse returns why a database cannot be changed now, or "".
func (v *View) databaseInUse(root int, base string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		st, err := v.Look(root, base+suffix)
		if err != nil {
			continue
		}
		if suffix != "" && v.Newer(st) {
			return apply.WhyNewer
		}
		if who, held := v.hold(&Change{Root: root, Path: base + suffix}, st); held {
			return "another program uses the database" + who
		}
	}
	return ""
}

// lockFiles leaves out the changes beside a lock file that the command opened and another program
// has locked.
func (v *View) lockFiles(all []*Change) {
	for _, c := range v.opened {
		if !entry.LockedByOthers(c.Lower.ID()) {
			continue
		}
		for _, other := range all {
			if other.SkipReason == "" && other.Kind != apply.Merged && other.Root == c.Root && filepath.Dir(other.Path) == filepath.Dir(c.Path) {
				other.SkipReason = "another program holds the lock " + filepath.Base(c.Path)
			}
		}
	}
}

// mostLeases limits the files kept open between decision and writing.
const mostLeases = 256

// hold takes a write lease on a file until FreeLeases. The kernel grants it only while nobody else
// has the file open or mapped. Otherwise held is true and who names a program, if known.
func (v *View) hold(c *Change, st entry.Stat) (who string, held bool) {
	if v.Leases[st.ID()] != nil {
		return "", false
	}
	path := c.Path
	if c.Origin != nil {
		path = c.Origin.Path
	}
	f, err := v.Lease(c.Root, path)
	switch {
	case err == nil && len(v.Leases) < mostLeases:
		if v.Leases == nil {
			v.Leases = map[entry.ID]*os.File{}
		}
		v.Leases[st.ID()] = f
		return "", false
	case err == nil:
		_ = f.Close()
		return "", false
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ETXTBSY):
		return entry.Holder(st.ID()), true
	}
	who = entry.Holder(st.ID()) // no leases on this file system or for this owner
	return who, who != ""
}
