//go:build unix

package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/sandbox/visibility"
)

// lookout looks at the repositories of a workspace before and after commands. What mounts cannot
// hold it finds: a repository that is new, one whose folder was renamed and made anew, a file that
// leads the workspace's own elsewhere. What then would make git run a program is put aside before
// anybody's git comes along, and told.
type lookout struct {
	mu     sync.Mutex
	tree   tree
	own    string              // the workspace's own repository
	known  map[string][]string // repositories, with what was dangerous about them
	inside map[string][]string // the same of those that repositories hold
	config []byte              // of the own one, to be put back
	waits  []string            // commands that a stopped rebase would run
	ready  bool
	tells  bool // nothing is put aside
}

// begin remembers what is there before the first command, and lists the repositories in the
// workspace.
func (l *lookout) begin(workspace string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ready {
		var out []string
		for at := range l.known {
			if at != l.own {
				out = append(out, at)
			}
		}
		slices.Sort(out)
		return out
	}
	l.ready, l.tree.root, l.own = true, workspace, filepath.Join(workspace, ".git")
	l.known, l.inside = map[string][]string{}, map[string][]string{}
	found := l.tree.find(someFolders).repositories
	for _, at := range append(slices.Clone(found), l.own) {
		l.known[at] = dangers(at, workspace)
		for _, in := range inner(at, 0) {
			l.inside[in] = dangersInside(in, workspace)
		}
	}
	l.config, _ = os.ReadFile(filepath.Join(l.own, "config"))
	l.waits = waiting(l.own)
	return found
}

// now lists all repositories as they are before a command that works on the live tree.
func (l *lookout) now() folders {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.tree.find(0)
	for _, at := range found.repositories {
		if _, known := l.known[at]; !known {
			l.known[at] = dangers(at, l.tree.root)
			for _, in := range inner(at, 0) {
				l.inside[in] = dangersInside(in, l.tree.root)
			}
		}
	}
	return found
}

// acted lists what is there by which other programs run something.
func (l *lookout) acted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tree.acted()
}

// foreign reports folders that the namespaces of a means have no owner for.
func (l *lookout) foreign(m Means) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tree.foreign && !mapsEverybody(m)
}

// end tells what a command that worked on the live tree left there that other programs act on. A
// repository that has become dangerous since is put aside.
func (l *lookout) end(started time.Time, p *plan) (told []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tree.force = true
	defer func() { l.tree.force = false }()
	found := l.tree.find(0)
	for _, at := range append(found.repositories, l.own) {
		if p.holds(at) {
			continue
		}
		for _, in := range inner(at, 0) {
			told = append(told, l.compare(l.inside, in, dangersInside(in, l.tree.root))...)
		}
		told = append(told, l.compare(l.known, at, dangers(at, l.tree.root))...)
	}
	if !p.holds(l.own) {
		told = append(told, l.begun()...)
	}
	for _, dir := range found.closed {
		if !p.holds(dir) {
			told = append(told, legible(dir)+" (it cannot be looked into)")
		}
	}
	return append(told, l.odd(started, p)...)
}

// odd tells of new links that lead out of the workspace, and of what editors and assistants act on.
func (l *lookout) odd(since time.Time, p *plan) []string {
	var out apply.Outcome
	fresh := func(path string) bool {
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) != nil || p.holds(path) {
			return false
		}
		changed := visibility.ChangeTime(&st)
		return time.Unix(changed.Unix()).After(since)
	}
	for dir, r := range l.tree.folders {
		for _, name := range r.links {
			at := filepath.Join(dir, name)
			if !fresh(at) {
				continue
			}
			target, _ := os.Readlink(at)
			if rel, _ := filepath.Rel(l.tree.root, at); !stays(l.tree.root, rel, target) {
				out.Left = append(out.Left, apply.Left{Path: at, Why: whyLeaves})
			}
		}
	}
	for _, at := range l.tree.acted() {
		_ = filepath.WalkDir(at, func(path string, e fs.DirEntry, err error) error {
			if (err != nil || !e.IsDir()) && fresh(path) {
				out.Left = append(out.Left, apply.Left{Path: path, Why: whyActedOn})
			}
			return nil
		})
	}
	slices.SortFunc(out.Left, func(a, b apply.Left) int { return strings.Compare(a.Path, b.Path) })
	out.Left = slices.Compact(out.Left)
	told := tell(out)
	for i := range told {
		told[i] += "; it stays"
	}
	return told
}

// holds reports that a command could not change what stands at a path, or changed it apart.
func (p *plan) holds(path string) bool {
	return p.mounted && (slices.ContainsFunc(p.apart, func(dir string) bool { return within(path, dir) }) ||
		slices.ContainsFunc(p.guards, func(g guard) bool { return g.kind == namespace.Locked && within(path, g.path) }) || slices.Contains(p.missing, path))
}

// rebase tells of a rebase that a command left. It is all there is to look at where each of its
// changes was judged before it was made: whatever else is new in a repository is somebody else's.
func (l *lookout) rebase() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun()
}

// begun tells what a command has left for the next git rebase --continue, which may be the user's
// own and runs outside. It stays, since a rebase that somebody wanted needs it.
func (l *lookout) begun() (told []string) {
	now := waiting(l.own)
	for _, line := range now {
		if !slices.Contains(l.waits, line) {
			told = append(told, "a rebase is left that runs a command when it goes on ("+line+"); look at it with git rebase --edit-todo, or end it with git rebase --abort")
		}
	}
	l.waits = now
	return told
}

// compare puts one repository aside where something about it is dangerous now and was not before.
func (l *lookout) compare(known map[string][]string, at string, now []string) []string {
	before, was := known[at]
	fresh := slices.DeleteFunc(slices.Clone(now), func(d string) bool { return slices.Contains(before, d) })
	if len(fresh) == 0 {
		if !was {
			known[at] = now
		}
		return nil
	}
	name, _ := filepath.Rel(l.tree.root, at)
	if l.tells {
		return []string{fmt.Sprintf("%s would make git run programs or read another repository (%s); it stays", name, strings.Join(fresh, ", "))}
	}
	aside, err := l.putAside(at, fresh)
	if err != nil {
		return []string{fmt.Sprintf("%s would make git run programs or read another repository (%s), and could not be put aside: %v", name, strings.Join(fresh, ", "), err)}
	}
	return []string{fmt.Sprintf("%s would make git run programs or read another repository (%s); it is now %s", name, strings.Join(fresh, ", "), aside)}
}

// asideSuffix is what a name gets.
const asideSuffix = ".held-by-adze"

// putAside renames what is dangerous so that git does not know it. Of the workspace's own
// repository that is the single file.
func (l *lookout) putAside(at string, fresh []string) (aside string, err error) {
	if at != l.own {
		target := at
		if filepath.Base(at) != ".git" {
			target = filepath.Join(at, "HEAD") // a bare one is none without it
		}
		return filepath.Base(target) + asideSuffix, l.rename(target)
	}
	var names []string
	for _, d := range fresh {
		name := "config"
		switch kind, rest, _ := strings.Cut(d, " "); kind {
		case "hook":
			name = filepath.Join("hooks", strings.Fields(rest)[0])
		case "commondir":
			name = "commondir"
		}
		if slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		if err := l.rename(filepath.Join(at, name)); err != nil {
			return "", err
		}
		if name == "config" && l.config != nil {
			if err := os.WriteFile(filepath.Join(at, name), l.config, 0o644); err != nil {
				return "", err
			}
		}
	}
	return strings.Join(names, asideSuffix+", ") + asideSuffix, nil
}

// rename gives a name that nothing has yet.
func (l *lookout) rename(path string) error {
	to := path + asideSuffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); err != nil {
			return os.Rename(path, to)
		}
		to = fmt.Sprint(path, asideSuffix, "-", n)
	}
}
