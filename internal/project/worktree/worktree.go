// Package worktree makes git work trees for sessions, so that several can work on one repository at
// once, and removes them.
//
// The one rule: nothing unique to a work tree is lost without force: uncommitted changes, untracked
// files, commits reachable only from there. Content that cannot be examined counts as unique.
//
// Work trees lie beside the repository (calc-NAME beside calc). There, references to neighbors
// (../lib) work; inside the repository, its searches, builds and sessions would find the copies;
// and tools cannot write to adze's state folder, which commands cannot see. Another folder can be
// configured.
//
// A record in adze's state is written before any git command, so that the remains of a crash can be
// cleaned up. A session in a work tree holds a shared lock on its record; its creation and removal
// hold an exclusive one.
//
// Start reading at Manager.Make, then remove.go.
//
// Known limits: creation does not run content filters (Git LFS) or fetch submodules, and prints a
// note. Other programs working in a work tree are not noticed.
package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/git"
	"adze/internal/text/usage"
)

// A Manager makes and removes work trees.
type Manager struct {
	Git   git.Git
	State string   // adze's state folder
	Copy  []string // patterns of untracked files to copy into a new one, such as .env
}

type repository struct {
	*git.Repo
	manager Manager
	main    string // main checkout
	rel     string // the folder, relative to its work tree
	list    []git.Worktree
	dir     string // of its records
}

func (d Manager) open(ctx context.Context, dir string) (*repository, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, usage.Mistake("name a folder that exists", "%v", err)
	}
	repo, err := d.Git.Open(ctx, real)
	switch {
	case errors.Is(err, git.ErrNoWorkTree):
		return nil, usage.Mistake("change to one of its work trees; git worktree list shows them", "%s is inside a repository, and in no work tree of it", dir)
	case err != nil:
		return nil, usage.Mistake("a work tree is made by git", "%v", err)
	}
	r := &repository{Repo: repo, manager: d, dir: filepath.Join(root(d.State), fmt.Sprintf("%x", sha256.Sum256([]byte(repo.Common)))[:12])}
	if r.rel, err = filepath.Rel(repo.Top, real); err != nil {
		r.rel = "."
	}
	if r.list, err = repo.Worktrees(ctx); err != nil {
		return nil, err
	}
	if len(r.list) == 0 {
		return nil, usage.Mistake("a work tree is made by git", "git lists no work tree of %s", dir)
	}
	r.main = r.checkout(ctx)
	return r, nil
}

// checkout returns the main checkout. A bare repository has none. If the git folder is elsewhere,
// git may not know it: then the user's current checkout counts, or the one in which the current
// work tree was made.
func (r *repository) checkout(ctx context.Context) string {
	if main := r.MainTop(ctx); main != "" {
		return main
	}
	if _, rec, ok := find(r.manager.State, r.Top); ok && rec.Common == r.Common {
		return rec.Main
	}
	return r.Top
}

func root(state string) string { return filepath.Join(state, "worktrees") }

// slug converts a name to a path element, or returns "" for an invalid one.
func slug(name string) string {
	sound := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") == ""
	if !sound || name == "" || len(name) > 60 || strings.ContainsAny(name[:1], "-./") || strings.Contains(name, "..") || strings.HasSuffix(name, "/") {
		return ""
	}
	return strings.ReplaceAll(name, "/", "-")
}

func (r *repository) place(slug string) string {
	folder := filepath.Dir(r.main)
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return filepath.Join(folder, filepath.Base(r.main)+"-"+slug)
}

// A WorkTree is a work tree in use.
type WorkTree struct {
	Dir     string // the user's folder, in the work tree
	Notices []string
	Release func() // ends the hold
}

// Make enters the named work tree, creating it if needed: with an existing branch of that name,
// one that tracks a remote's, or a new one at dir's current commit.
func (d Manager) Make(ctx context.Context, dir, name string) (WorkTree, error) {
	s := slug(name)
	if s == "" {
		return WorkTree{}, usage.Mistake("use letters, digits, . _ - and / inside, at most 60, such as fix-parser", "%q is no name of a work tree", name)
	}
	r, err := d.open(ctx, dir)
	if err != nil {
		return WorkTree{}, err
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return WorkTree{}, err
	}
	var notices []string
	for range 3 { // it may be removed between its creation and the hold
		alone, unlock, err := r.enter(ctx, s)
		if err != nil {
			return WorkTree{}, err
		}
		made, told, err := r.ready(ctx, name, s, alone)
		unlock()
		if err != nil {
			return WorkTree{}, err
		}
		notices = append(notices, told...)
		release, err := r.hold(s)
		if err != nil {
			return WorkTree{}, err
		}
		if info, err := os.Stat(made.Path); err == nil && info.IsDir() {
			return WorkTree{r.inside(made.Path), notices, release}, nil
		}
		release()
	}
	return WorkTree{}, fmt.Errorf("the work tree %s is removed while it is made; try again", name)
}

// inside returns the user's folder in a work tree, if it exists there.
func (r *repository) inside(path string) string {
	at := filepath.Join(path, r.rel)
	if info, err := os.Stat(at); err == nil && info.IsDir() {
		return at
	}
	return path
}

// ready finds or creates a work tree. The caller holds its exclusive lock.
func (r *repository) ready(ctx context.Context, name, slug string, alone bool) (Record, []string, error) {
	rec, known, err := r.read(slug)
	if err != nil {
		return rec, nil, err
	}
	if known && rec.Name != name {
		return rec, nil, usage.Mistake("choose another name", "the work tree %s lies in the same place", rec.Name)
	}
	if known && rec.Ready && r.has(rec.Path) {
		return rec, []string{fmt.Sprintf("working in the work tree %s (%s)", name, rec.Path)}, nil
	}
	if !alone {
		return rec, nil, usage.Mistake("try again", "the work tree %s is being removed", name)
	}
	if known {
		if err := r.clear(ctx, slug, rec); err != nil {
			return rec, nil, err
		}
	}
	return r.create(ctx, name, slug)
}

// clear removes what an interrupted creation or removal, or a deleted folder, left. It keeps a
// branch with commits.
func (r *repository) clear(ctx context.Context, slug string, rec Record) error {
	t := Tree{Name: rec.Name, Path: rec.Path, Mine: true, Interrupted: true, record: rec, slug: slug}
	r.prepare(ctx, &t)
	if r.look(ctx, &t); t.Uncommitted > 0 || t.Unknown != "" {
		return usage.Mistake("look at it, then adze worktree remove "+rec.Name+" --force", "%s is half a work tree, with files in it that would be lost", rec.Path)
	}
	at, err := r.Branch(ctx, rec.Branch)
	if err != nil {
		return err
	}
	rec.OwnBranch = rec.OwnBranch && at == rec.Base
	return r.discard(ctx, slug, rec)
}

// has reports whether git knows an existing folder as a work tree.
func (r *repository) has(path string) bool {
	info, err := os.Lstat(filepath.Join(path, ".git"))
	return err == nil && info.Mode().IsRegular() && slices.ContainsFunc(r.list, func(w git.Worktree) bool { return w.Path == path })
}

func (r *repository) create(ctx context.Context, name, slug string) (rec Record, notices []string, err error) {
	rec = Record{Name: name, Path: r.place(slug), Branch: name, Main: r.main, Common: r.Common}
	if _, err := os.Lstat(rec.Path); err == nil {
		return rec, nil, usage.Mistake("choose another name, or move it away", "%s is there already, and no work tree that adze made", rec.Path)
	}
	if rec.Base, err = r.Resolve(ctx, "HEAD"); err != nil {
		return rec, nil, usage.Mistake("commit something first", "a work tree begins at a commit, and there is none yet")
	}
	at, err := r.Branch(ctx, name)
	if err != nil {
		return rec, nil, usage.Mistake("choose another name", "%v", err)
	}
	from := rec.Base
	if rec.OwnBranch = at == ""; !rec.OwnBranch {
		rec.Base, from = at, ""
		notices = append(notices, fmt.Sprintf("the branch %s was there already, and is checked out as it is", name))
	} else if ref, at, err := r.RemoteBranch(ctx, name); err != nil {
		return rec, nil, err
	} else if at != "" {
		rec.Base, from = at, ref
		notices = append(notices, fmt.Sprintf("the branch %s begins at %s", name, strings.TrimPrefix(ref, "refs/remotes/")))
	}
	if err := os.MkdirAll(filepath.Dir(rec.Path), 0o755); err != nil {
		return rec, nil, usage.Mistake(`name another folder: {"worktree": {"folder": "/path"}}`, "%v", err)
	}
	if err := r.write(slug, rec); err != nil {
		return rec, nil, err
	}
	if err := r.AddWorktree(ctx, rec.Path, name, from); err != nil {
		_ = r.clear(context.WithoutCancel(ctx), slug, rec) // a later cleanup removes the rest
		return rec, nil, usage.Mistake("git says why; adze worktree list shows the others", "the work tree %s could not be made: %v", name, err)
	}
	told, err := r.furnish(ctx, &rec)
	if err != nil {
		return rec, nil, err
	}
	rec.Ready = true
	start := fmt.Sprintf("working in the new work tree %s on the branch %s (%s)", name, name, rec.Path)
	return rec, append(append([]string{start}, notices...), told...), r.write(slug, rec)
}
