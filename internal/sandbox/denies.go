//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"
)

// covers reports whether the rule matches a path below its root. A pattern for everything in a
// folder matches the folder too.
func (d Denial) covers(rel string) bool {
	ok, err := doublestar.Match(d.Pattern, d.Fold(rel))
	return ok && err == nil
}

func (d Denial) steps() []string { return strings.Split(d.Pattern, "/") }

// denies finds the paths covered by deny rules. It caches folder listings by modification time.
type denies struct {
	mu      sync.Mutex
	folders map[string]folderListing
}

type folderListing struct {
	changed unix.Timespec
	at      time.Time
	names   []string
	folder  []bool // for each name
}

// deny computes the paths that rules keep from this command: p.hidden and p.masked from reading, in
// the workspace and outside it, and p.still from writing.
func (p *plan) deny(s *Sandbox) {
	rules := s.o.Rules
	if rules == nil {
		return
	}
	s.denies.mu.Lock()
	defer s.denies.mu.Unlock()
	read, write := rules.Denied(false), rules.Denied(true)
	beside := func(path string) bool { return !isWithin(path, p.workspace.path) }
	hidden := s.denies.find(p, read)
	p.masked = slices.DeleteFunc(slices.Clone(hidden), func(path string) bool { return !beside(path) || isWithin(path, s.o.State) })
	p.hidden = slices.DeleteFunc(hidden, beside)
	p.still = s.denies.find(p, write)
	// Paths hidden from the command are not shown, and need no further protection.
	gone := func(path string) bool { return matchesAny(p.hidden, path, false) || matchesAny(p.masked, path, false) }
	p.home.visiblePaths = slices.DeleteFunc(p.home.visiblePaths, func(v visiblePath) bool { return gone(v.path) })
	p.home.locked = slices.DeleteFunc(p.home.locked, gone)
	p.guards = slices.DeleteFunc(p.guards, func(g guard) bool { return gone(g.path) })
	p.missing = slices.DeleteFunc(p.missing, gone)
}

// find lists the covered paths, topmost only.
func (f *denies) find(p *plan, rules []Denial) (out []string) {
	for _, d := range rules {
		f.walk(p, d, d.Root, "", d.steps(), &out)
	}
	slices.Sort(out)
	var top []string
	for _, path := range out {
		if len(top) == 0 || !isWithin(path, top[len(top)-1]) {
			top = append(top, path)
		}
	}
	return top
}

func (f *denies) walk(p *plan, d Denial, dir, rel string, steps []string, out *[]string) {
	if len(steps) == 0 || steps[0] == "**" && !isWithin(dir, p.workspace.path) && !p.home.shownByUser(dir) && isWithin(p.workspace.path, dir) {
		if len(steps) > 0 && dir != p.workspace.path { // around the workspace, only the workspace itself is searched
			inner, _ := filepath.Rel(d.Root, p.workspace.path)
			f.walk(p, d, p.workspace.path, inner, steps, out)
		}
		return
	}
	if steps[0] == "**" && !isWithin(dir, p.workspace.path) && !p.home.shownByUser(dir) && len(steps) > 1 {
		return
	}
	names := f.list(dir)
	for i, name := range names.names {
		path, at := filepath.Join(dir, name), filepath.Join(rel, name)
		switch {
		case d.covers(at):
			*out = append(*out, path)
		case !names.folder[i] || name == "objects" && filepath.Base(dir) == ".git":
		case steps[0] == "**":
			f.walk(p, d, path, at, steps, out)
		default:
			if ok, err := doublestar.Match(steps[0], d.Fold(name)); ok && err == nil {
				f.walk(p, d, path, at, steps[1:], out)
			}
		}
	}
}

func (f *denies) list(dir string) folderListing {
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return folderListing{}
	}
	changed := unix.Timespec(st.Ctim)
	if old, ok := f.folders[dir]; ok && old.changed == changed && old.at.Sub(time.Unix(changed.Unix())) > clockStep {
		return old
	}
	l := folderListing{changed: changed, at: time.Now()}
	entries, _ := os.ReadDir(dir) // an unreadable folder is unreadable to the command too
	for _, e := range entries {
		l.names, l.folder = append(l.names, e.Name()), append(l.folder, e.Type() == fs.ModeDir)
	}
	if f.folders == nil || len(f.folders) >= someFolders {
		f.folders = map[string]folderListing{}
	}
	f.folders[dir] = l
	return l
}
