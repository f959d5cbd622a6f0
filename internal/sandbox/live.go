//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/sandbox/proc"
)

// A command that goes on after its call works on the live tree, so that it receives change events
// (inotify) and others see its changes at once. So do all commands if the workspace can have no
// view. For them git's folders are read only.

// live returns why a command works on the live tree, or "" if it works on a view.
func (s *Sandbox) live(p *plan, m Technique) string {
	if !p.command.Transaction {
		return "it goes on beyond its call"
	}
	if s.first().foreign && !mapsEverybody(m) {
		return "folders in it belong to users or groups that the sandbox does not know"
	}
	return s.noView(m, append([]string{p.workspace.path}, p.grants...)...)
}

// standing returns the level for the next foreground command in a full sandbox.
func (s *Sandbox) standing() Level {
	if report, ok := s.KnownReport(); !ok || s.whyLive(report.Technique) != "" {
		return FullLive
	}
	return Full
}

// whyLive returns why foreground commands work on the live tree, or "" if they do not.
func (s *Sandbox) whyLive(m Technique) string {
	if s.workspace.err != nil {
		return s.workspace.err.Error()
	}
	p := plan{workspace: s.workspace, command: proc.Command{Transaction: true}}
	if repository, err := findRepository(s.workspace.path); err == nil && repository.grant != "" {
		p.grants = []string{repository.grant}
	}
	return s.live(&p, m)
}

// noView returns why commands cannot see folders through views, or "" if they can.
func (s *Sandbox) noView(m Technique, folders ...string) string {
	switch {
	case m != Namespaces:
		return "the sandbox is " + m.Name()
	case s.viewFails.Load():
		return "this kernel makes no private views of folders"
	case isWithin(s.o.State, s.workspace.path):
		return "the state of adze lies in it"
	}
	return unviewable(folders, mapsEverybody(m))
}

// mapsEverybody reports whether the namespaces map all users and groups.
func mapsEverybody(m Technique) bool { return m == Namespaces && os.Geteuid() == 0 }

// keepGit makes git's folders in the workspace read only, and the places of submodules without a
// repository: git would run code planted there.
func (p *plan) keepGit(g *guards) {
	top := p.workspace.path
	g.lock(top, filepath.Join(top, ".git"))
	trees := []string{top}
	for _, dir := range p.nested {
		if isLink(dir) { // it could be replaced
			g.lockIfThere(top, filepath.Dir(dir))
			continue
		}
		g.lockIfThere(top, dir)
		if filepath.Base(dir) == ".git" {
			trees = append(trees, filepath.Dir(dir))
		}
	}
	for _, tree := range trees {
		if _, there := lookAt(filepath.Join(tree, ".git")); !there {
			continue
		}
		index, _ := stagedIn(tree, p.command.Env) // if git cannot read the index, it does not look into submodules either
		for _, path := range index.submodules() {
			at := filepath.Join(tree, path)
			if _, there := lookAt(filepath.Join(at, ".git")); !there && filepath.IsLocal(path) && !throughLink(tree, path) {
				g.lock(top, at)
			}
		}
	}
}

// throughLink reports whether a path leads through a link or file, or ends at one.
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

func (p *plan) name(level Level, m Technique) string {
	if level == Full && p.live != "" {
		level = FullLive
	}
	return string(level) + " (" + string(m) + ")"
}

// weaker returns an error for a command that was allowed because its changes would be kept apart,
// if they cannot be.
func (p *plan) weaker(c proc.Command, m Technique) error {
	switch {
	case p.live == "":
	case c.KeepChanges:
		return fmt.Errorf("%w: %s", ErrNoView, p.live)
	case m != Landlock && c.RequireWalls && c.Transaction:
		return fmt.Errorf("%w: it was allowed because its changes would be kept apart until they are judged, which they cannot be: %s; run it again, and it is asked about", ErrNotFull, p.live)
	}
	return nil
}
