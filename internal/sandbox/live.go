//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/sandbox/proc"
)

// A command that goes on after its call works on the live tree, so that it is told of changes
// (inotify) and others see its own at once. All commands work so where there can be no view of the
// workspace. Folders of git are read only to them.

// live says why a command works on the live tree. It is empty where it works on a view of the
// workspace.
func (s *Sandbox) live(p *plan, m Means) string {
	if !p.command.Transaction {
		return "it goes on beyond its call"
	}
	if s.first().foreign && !mapsEverybody(m) {
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
	p := plan{workspace: s.workspace, command: proc.Command{Transaction: true}}
	if repository, err := findRepository(s.workspace.path); err == nil && repository.grant != "" {
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

// keepGit keeps the folders of git in the workspace as they are, and the places of submodules in
// which nothing is yet: git runs what is planted there.
func (p *plan) keepGit(g *guards) {
	top := p.workspace.path
	g.lock(top, filepath.Join(top, ".git"))
	trees := []string{top}
	for _, dir := range p.nested {
		if isLink(dir) { // which could be replaced
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
		index, _ := stagedIn(tree, p.command.Env) // what git cannot read it looks into no submodule for
		for _, path := range index.submodules() {
			at := filepath.Join(tree, path)
			if _, there := lookAt(filepath.Join(at, ".git")); !there && filepath.IsLocal(path) && !throughLink(tree, path) {
				g.lock(top, at)
			}
		}
	}
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

// name is what is told of the sandbox of a command.
func (p *plan) name(level Level, m Means) string {
	if level == Full && p.live != "" {
		level = FullLive
	}
	return string(level) + " (" + string(m) + ")"
}

// weaker is an error where a command was allowed because its changes would be kept apart, and they
// cannot be.
func (p *plan) weaker(c proc.Command, m Means) error {
	switch {
	case p.live == "":
	case c.KeepChanges:
		return fmt.Errorf("%w: %s", ErrNoView, p.live)
	case m != Landlock && c.RequireWalls && c.Transaction:
		return fmt.Errorf("%w: it was allowed because its changes would be kept apart until they are judged, which they cannot be: %s; run it again, and it is asked about", ErrNotFull, p.live)
	}
	return nil
}
