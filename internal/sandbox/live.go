//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc"
)

// A command that goes on after its call works on the live tree, so that it is told of changes
// (inotify) and others see its own at once. Only folders of git are apart from it, each in a view
// of its own, judged when the command has ended. All commands work so where there can be no view of
// the workspace.

// maxApart bounds the folders of git that one command gets views of. The others are read only.
const maxApart = 64

// live says why a command works on the live tree. It is empty where it works on a view of the
// workspace.
func (s *Sandbox) live(p *plan, m Means) string {
	if !p.command.Transaction {
		return "it goes on beyond its call"
	}
	if s.lookout.foreign(m) {
		return "folders in it belong to users or groups that the sandbox does not know"
	}
	return s.noView(m, append([]string{p.workspace.path}, p.grants...)...)
}

// standing is the level of the next command that is waited for, where the sandbox is full.
func (s *Sandbox) standing() Level {
	if report, ok := s.Known(); !ok || s.whyLive(report.Means) != "" {
		return FullLive
	}
	return Full
}

// whyLive says why commands that are waited for work on the live tree. It is empty where they do
// not.
func (s *Sandbox) whyLive(m Means) string {
	if s.workspace.err != nil {
		return s.workspace.err.Error()
	}
	s.lookout.begin(s.workspace.path)
	p := plan{workspace: s.workspace, command: proc.Command{Transaction: true}}
	if repository, err := findRepository(s.sight.Glance(), s.workspace.path); err == nil && repository.grant != "" {
		p.grants = []string{repository.grant}
	}
	return s.live(&p, m)
}

// noView says why commands cannot see folders through views. It is empty where they can.
func (s *Sandbox) noView(m Means, folders ...string) string {
	switch {
	case m != Namespaces:
		return "the sandbox is " + m.Name()
	case s.viewFails.Load():
		return "this kernel makes no private views of folders"
	case within(s.o.State, s.workspace.path):
		return "the state of adze lies in it"
	}
	return unviewable(folders, mapsEverybody(m))
}

// mapsEverybody reports that all users and groups are known in the namespaces of a means.
func mapsEverybody(m Means) bool { return m == Namespaces && os.Geteuid() == 0 }

// keepGitApart has the folders of git in the workspace changed in views. Those of which there can
// be none are read only, but for a command that the user allowed.
func (s *Sandbox) keepGitApart(p *plan, g *guards, own *repository, m Means) {
	found := s.lookout.now()
	p.nested = found.repositories
	for _, dir := range append([]string{own.dir}, p.nested...) {
		if dir == "" {
			continue
		}
		mark := p.glance.Mark(dir)
		switch {
		case mark.Err != nil || mark.Is(unix.S_IFREG):
			g.lockIfThere(p.root(dir), dir)
			continue
		case mark.Is(unix.S_IFLNK): // which could be replaced
			g.lockIfThere(p.root(dir), filepath.Dir(dir))
			continue
		}
		why := s.noView(m, dir)
		if why == "" && len(p.apart) >= maxApart {
			why = fmt.Sprintf("there are more than %d repositories", maxApart)
		}
		switch {
		case why == "":
			p.apart = append(p.apart, dir)
			g.apart(p.root(dir), dir)
		case p.command.Allowed:
			continue
		case dir == own.grant:
			p.fixed, p.grants = append(p.fixed, p.named(dir)+": "+why), nil
			own.locked, own.optional = []string{filepath.Join(p.workspace.path, ".git")}, nil
			continue
		default:
			p.fixed = append(p.fixed, p.named(dir)+": "+why)
			g.lockIfThere(p.root(dir), dir)
			continue
		}
	}
	for _, dir := range append([]string{own.dir}, p.nested...) {
		s.keepModulesApart(p, g, dir, m)
	}
	for _, dir := range found.closed { // a repository may be in it
		p.fixed = append(p.fixed, p.named(dir)+": it cannot be looked into")
		g.lockIfThere(p.workspace.path, dir)
	}
}

// keepModulesApart does the same with the folders of submodules in which nothing is yet: git runs
// what is planted there.
func (s *Sandbox) keepModulesApart(p *plan, g *guards, dir string, m Means) {
	if dir == "" {
		return
	}
	top, index := filepath.Dir(dir), dir
	if dir == filepath.Join(p.workspace.path, ".git") || filepath.Base(dir) != ".git" {
		top = p.workspace.path
	}
	if to, ok := pointer(filepath.Join(top, ".git"), "gitdir: ", top); ok {
		index = to
	}
	paths, ok := gitlinks(index)
	if !ok {
		p.fixed = append(p.fixed, p.named(index)+": its index cannot be read, so that submodules that are not there yet are not protected")
	}
	for _, path := range paths {
		at := filepath.Join(top, path)
		if _, there := lookAt(filepath.Join(at, ".git")); there || !filepath.IsLocal(path) || !within(at, p.workspace.path) || throughLink(top, path) {
			continue
		}
		if _, there := lookAt(at); !there || len(p.apart) >= maxApart || s.noView(m, at) != "" {
			g.lock(p.workspace.path, at)
			continue
		}
		p.apart = append(p.apart, at)
		g.apart(p.workspace.path, at)
	}
}

// named is a path as it is told: relative where it is in the workspace.
func (p *plan) named(path string) string {
	if rel, err := filepath.Rel(p.workspace.path, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return legible(path)
}

// throughLink reports that a path leads through a link, or is none to a folder.
func throughLink(top, path string) bool {
	at := top
	for step := range strings.SplitSeq(path, "/") {
		at = filepath.Join(at, step)
		if info, there := lookAt(at); there && !info.IsDir() {
			return true
		}
	}
	return false
}

// gitlinks are the paths of submodules in the index of a repository.
func gitlinks(dir string) (paths []string, ok bool) {
	files, _ := filepath.Glob(filepath.Join(dir, "sharedindex.*")) // a part of the index may be there
	for _, file := range append(files, filepath.Join(dir, "index")) {
		entries, err := readIndex(file)
		if err != nil && !os.IsNotExist(err) {
			return nil, false
		}
		for _, e := range entries {
			if e.gitlink() {
				paths = append(paths, e.path)
			}
		}
	}
	return paths, true
}

// mostFixed bounds the folders that are named in a result.
const mostFixed = 2

// name is what is told of the sandbox of a command.
func (p *plan) name(level Level, m Means) string {
	if level == Full && p.live != "" {
		level = FullLive
	}
	name := string(level)
	if n := len(p.fixed); n > 0 {
		name += ", read only: " + strings.Join(p.fixed[:min(n, mostFixed)], ", ")
		if n > mostFixed {
			name += fmt.Sprintf(" and %d more", n-mostFixed)
		}
	}
	return name + " (" + string(m) + ")"
}

// weaker is an error where a command was allowed because its changes would be kept apart, and they
// cannot be.
func (p *plan) weaker(c proc.Command, m Means) error {
	switch {
	case p.live == "":
	case c.Aside:
		return fmt.Errorf("%w: %s", ErrNoView, p.live)
	case m != Landlock && c.Inside && c.Transaction:
		return fmt.Errorf("%w: it was allowed because its changes would be kept apart until they are judged, which they cannot be: %s; run it again, and it is asked about", ErrNotFull, p.live)
	}
	return nil
}
