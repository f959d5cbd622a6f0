// Package worktree makes git work trees for sessions, so that several work on one repository
// without meeting, and takes them away again.
//
// The one rule: nothing that only a work tree has is lost without force: changes that are not
// committed, files that git does not know, commits that nothing else leads to. What cannot be
// looked into counts as such.
//
// Work trees lie beside the repository (calc-NAME beside calc): there, references to neighbours
// (../lib) still hold, which they would not one folder deeper; inside of the repository its own
// searches, builds and sessions would find the copies; and adze's state folder is written by no
// tool and hidden from commands. Another folder can be configured.
//
// A record in adze's state is written before git is asked for anything, so that what a crash leaves
// is known and can be cleaned away. Who works in a work tree holds a shared lock on its record; who
// makes or removes it an exclusive one.
//
// Start reading at Manager.Make, then remove.go.
//
// Known limits: content filters (Git LFS) are not run and submodules not fetched when a work tree
// is made, which is said. A program that is no adze and works in a work tree is not seen.
package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/git"
	"adze/internal/text/usage"
)

// Manager is what work trees are made with.
type Manager struct {
	Git   git.Git
	State string   // adze's state folder
	Copy  []string // patterns of files that git does not know and that a new one gets, such as .env
}

// repository is the one that a folder lies in.
type repository struct {
	*git.Repo
	desk Manager
	main string // its main checkout
	rel  string // the folder, below the top of its work tree
	list []git.Worktree
	dir  string // of its records
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
	r := &repository{Repo: repo, desk: d, dir: filepath.Join(root(d.State), name12(repo.Common))}
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

// checkout is the main checkout of the repository. A bare one has none, and one whose folder of git
// lies elsewhere does not always say where its own is: there, it is the checkout that the user is
// in, or was in when the work tree that they are in was made.
func (r *repository) checkout(ctx context.Context) string {
	if main := r.MainTop(ctx); main != "" {
		return main
	}
	if _, rec, ok := find(r.desk.State, r.Top); ok && rec.Common == r.Common {
		return rec.Main
	}
	return r.Top
}

// root is where all records are.
func root(state string) string { return filepath.Join(state, "worktrees") }

func name12(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])[:12]
}

// slug is a name as a part of a path; if empty, it is no name of a work tree.
func slug(name string) string {
	sound := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") == ""
	if !sound || name == "" || len(name) > 60 || strings.ContainsAny(name[:1], "-./") || strings.Contains(name, "..") || strings.HasSuffix(name, "/") {
		return ""
	}
	return strings.ReplaceAll(name, "/", "-")
}

// place is where the work tree of a name is made.
func (r *repository) place(slug string) string {
	folder := filepath.Dir(r.main)
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return filepath.Join(folder, filepath.Base(r.main)+"-"+slug)
}

// WorkTree is a work tree to work in.
type WorkTree struct {
	Dir     string // in it, the folder that the user was in
	Notices []string
	Release func() // ends the hold on it
}

// Make goes into the work tree of a name, and makes it where it is not there: with a new branch of
// that name at the commit that is checked out in dir, or with the branch of that name that exists.
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
	for range 3 { // it may be removed between its making and the hold
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

// inside is the folder in a work tree that the user was in, where it has one.
func (r *repository) inside(path string) string {
	at := filepath.Join(path, r.rel)
	if info, err := os.Stat(at); err == nil && info.IsDir() {
		return at
	}
	return path
}

// ready finds or makes a work tree, under its exclusive lock.
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

// clear takes away what an interrupted making or removal left, or what somebody took the folder of.
// A branch with work on it stays.
func (r *repository) clear(ctx context.Context, slug string, rec Record) error {
	t := Tree{Name: rec.Name, Path: rec.Path, Mine: true, Half: true, record: rec, slug: slug}
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

// has reports that a folder is there which git knows as a work tree of the repository.
func (r *repository) has(path string) bool {
	info, err := os.Lstat(filepath.Join(path, ".git"))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	for _, w := range r.list {
		if w.Path == path {
			return true
		}
	}
	return false
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
	if at != "" {
		rec.Base, from = at, ""
		notices = append(notices, fmt.Sprintf("the branch %s was there already, and is checked out as it is", name))
	} else {
		rec.OwnBranch = true
	}
	if err := os.MkdirAll(filepath.Dir(rec.Path), 0o755); err != nil {
		return rec, nil, usage.Mistake(`name another folder: {"worktree": {"folder": "/path"}}`, "%v", err)
	}
	if err := r.write(slug, rec); err != nil {
		return rec, nil, err
	}
	if err := r.AddWorktree(ctx, rec.Path, name, from); err != nil {
		_ = r.clear(context.WithoutCancel(ctx), slug, rec) // what stays is cleaned later
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
