package undo

import (
	"path/filepath"
	"strings"
)

// A linked work tree, a submodule and a folder below the top of a repository have git's state
// elsewhere. That folder is a part of the state all the same: it is seen in the root, under a name
// that no file of the user has there.

// OuterGit is the name of git's folder where that is not below the root.
const OuterGit = tempPrefix + "git"

// Outer is where git keeps the state of the repository that the root lies in.
type Outer struct {
	Dir string // absolute; if empty, that is below the root, or there is none
	Own string // of a linked work tree, the folder below Dir that is its own, with slashes
}

// hides reports a path of git's folder, below OuterGit, that belongs to other work trees.
func (o Outer) hides(path string) bool {
	rest, ok := strings.CutPrefix(path, OuterGit+"/")
	if !ok || o.Own == "" {
		return false
	}
	switch first, below, _ := strings.Cut(rest, "/"); first {
	case "refs", "packed-refs", "config", "shallow":
		return false
	case "logs":
		return below != "" && below != "refs" && !strings.HasPrefix(below, "refs/")
	default:
		return !strings.HasPrefix(o.Own+"/", rest+"/") && !strings.HasPrefix(rest, o.Own+"/")
	}
}

// cut takes OuterGit off a path below it.
func (o Outer) cut(path string) (rest string, ok bool) {
	if o.Dir == "" || path != OuterGit && !strings.HasPrefix(path, OuterGit+"/") {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, OuterGit), "/"), true
}

// place is where a path of the root is: absolute when it is below OuterGit, else the path itself.
func (o Outer) place(path string) string {
	if rest, ok := o.cut(path); ok {
		return filepath.Join(o.Dir, filepath.FromSlash(rest))
	}
	return path
}

// Paths turns the paths of states into those of the system.
type Paths struct {
	Root string
	Git  Outer
}

// Absolute is where a path of a state is.
func (p Paths) Absolute(path string) string {
	if at := p.Git.place(path); at != path {
		return at
	}
	return filepath.Join(p.Root, filepath.FromSlash(path))
}

// Relative is the path in a state of what is at an absolute one, if it can be a part of one.
func (p Paths) Relative(path string) (rel string, ok bool) {
	if rel, err := filepath.Rel(p.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), true
	}
	if p.Git.Dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(p.Git.Dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	rel = strings.TrimSuffix(OuterGit+"/"+filepath.ToSlash(rel), "/.")
	return rel, !p.Git.hides(rel)
}

// Paths says where the paths of states are.
func (w *Workspace) Paths() Paths { return Paths{w.opts.Root, w.opts.Git} }

// syncOuter writes what is restored in git's folder to the disk, which may be another.
func (f folder) syncOuter() error {
	if f.git.Dir == "" {
		return nil
	}
	git, err := f.openFolder(OuterGit)
	if err != nil {
		return nil //nolint:nilerr // nothing is restored where it is not
	}
	defer git.close()
	return git.syncAll()
}
