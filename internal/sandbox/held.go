package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// lookout looks at the repositories of a workspace before and after commands. What mounts cannot hold it finds: a repository
// that is new, one whose folder was renamed and made anew, a file that leads the workspace's own elsewhere. What then would
// make git run a program is put aside before anybody's git comes along, and told.
type lookout struct {
	mu     sync.Mutex
	tree   tree
	own    string              // the workspace's own repository
	known  map[string][]string // repositories, with what was dangerous about them
	inside map[string][]string // the same of those that repositories hold
	config []byte              // of the own one, to be put back
	waits  []string            // commands that a stopped rebase would run
	ready  bool
}

// begin remembers what is there before the first command, and lists the repositories in the workspace.
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
	found := l.tree.repositories()
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

// end puts aside what has become dangerous since, and says what.
func (l *lookout) end() (told []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ready {
		return nil
	}
	for _, at := range append(l.tree.repositories(), l.own) {
		for _, in := range inner(at, 0) {
			told = append(told, l.compare(l.inside, in, dangersInside(in, l.tree.root))...)
		}
		told = append(told, l.compare(l.known, at, dangers(at, l.tree.root))...)
	}
	return append(told, l.begun()...)
}

// begun tells what a command has left for the next git rebase --continue, which may be the person's own and runs outside.
// It stays, since a rebase that somebody wanted needs it.
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
	aside, err := l.putAside(at, fresh)
	if err != nil {
		return []string{fmt.Sprintf("%s would make git run programs or read another repository (%s), and could not be put aside: %v", name, strings.Join(fresh, ", "), err)}
	}
	return []string{fmt.Sprintf("%s would make git run programs or read another repository (%s); it is now %s", name, strings.Join(fresh, ", "), aside)}
}

// asideSuffix is what a name gets.
const asideSuffix = ".held-by-adze"

// putAside renames what is dangerous so that git does not know it. Of the workspace's own repository that is the single
// file.
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
