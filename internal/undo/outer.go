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

// Outer is the folder of git that is not below the root, if there is one.
func (w *Workspace) Outer() Outer { return w.opts.Git }

// Absolute is where a path of a state is.
func (w *Workspace) Absolute(path string) string {
	if rest, ok := (folder{git: w.opts.Git.Dir}).inOuter(path); ok {
		return filepath.Join(w.opts.Git.Dir, filepath.FromSlash(rest))
	}
	return filepath.Join(w.opts.Root, filepath.FromSlash(path))
}

// Relative is the path in a state of what is at an absolute one, if it can be a part of one.
func (w *Workspace) Relative(path string) (rel string, ok bool) {
	return w.opts.Git.Relative(w.opts.Root, path)
}

// Relative is the path in a state of a root of what is at an absolute one, if it can be a part of
// one.
func (o Outer) Relative(root, path string) (rel string, ok bool) {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), true
	}
	if o.Dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(o.Dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	rel = strings.TrimSuffix(OuterGit+"/"+filepath.ToSlash(rel), "/.")
	return rel, !o.hides(rel)
}

// Above is the innermost folder that holds both the root and git's folder.
func (o Outer) Above(root string) string {
	if o.Dir == "" {
		return root
	}
	above := root
	for {
		if rel, err := filepath.Rel(above, o.Dir); err == nil && filepath.IsLocal(rel) || above == filepath.Dir(above) {
			return above
		}
		above = filepath.Dir(above)
	}
}

// openTop opens the root.
func (w *Workspace) openTop() (folder, error) {
	root, err := openRoot(w.opts.Root, w.opts.plain)
	root.git = w.opts.Git.Dir
	return root, err
}

// inOuter is a path of the root below git's folder, if it is one.
func (f folder) inOuter(path string) (rest string, ok bool) {
	if f.git == "" || path != OuterGit && !strings.HasPrefix(path, OuterGit+"/") {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, OuterGit), "/"), true
}

// outer is where a path of the root below git's folder is, if it is one.
func (f folder) outer(path string) (absolute string, ok bool) {
	rest, ok := f.inOuter(path)
	return filepath.Join(f.git, filepath.FromSlash(rest)), ok
}

func (f folder) beneathOuter(rest string) (folder, error) {
	git, err := f.openFolder(OuterGit)
	if err != nil {
		return git, err
	}
	defer git.close()
	return git.beneath(rest)
}

// syncOuter writes what is restored in git's folder to the disk, which may be another.
func (w *Workspace) syncOuter(root folder) error {
	if w.opts.Git.Dir == "" {
		return nil
	}
	git, err := root.openFolder(OuterGit)
	if err != nil {
		return nil //nolint:nilerr // nothing is restored where it is not
	}
	defer git.close()
	return git.syncAll()
}
