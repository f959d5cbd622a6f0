package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"adze/internal/osfile/filelock"
	"adze/internal/text/usage"
)

// Removal is a work tree's removal result.
type Removal struct {
	Tree
	Removed bool     `json:"removed"`
	Reason  string   `json:"why,omitempty"`    // why it stays
	Lost    []string `json:"lost,omitempty"`   // its lost content
	Commit  string   `json:"commit,omitempty"` // last commit of its branch, to restore it from
}

// RemoveOptions holds the options of a removal.
type RemoveOptions struct {
	Force bool // also remove unique content
	Dry   bool // change nothing
}

// Remove removes a work tree and the branch made with it. It keeps one with unique content unless
// forced, and always one in use.
func (d Manager) Remove(ctx context.Context, dir, name string, w RemoveOptions) (Removal, error) {
	r, err := d.open(ctx, dir)
	if err != nil {
		return Removal{}, err
	}
	trees, err := r.trees(ctx)
	if err != nil {
		return Removal{}, err
	}
	var names []string
	for _, t := range trees {
		switch {
		case t.Name == name && t.Mine:
			return r.remove(ctx, t, w)
		case t.Name == name:
			return Removal{}, usage.Mistake("git worktree remove "+t.Path+" removes it", "the work tree %s was not made by adze", name)
		case t.Mine:
			names = append(names, t.Name)
		}
	}
	hint := "there are none; adze --worktree NAME makes one"
	if len(names) > 0 {
		hint = "there are: " + strings.Join(names, ", ")
	}
	return Removal{}, usage.Mistake(hint, "there is no work tree %s", name)
}

// Clean removes all adze work trees without unique content, and remains of interrupted operations.
// It returns all adze work trees.
func (d Manager) Clean(ctx context.Context, dir string, w RemoveOptions) (out []Removal, err error) {
	r, err := d.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	trees, err := r.trees(ctx)
	for _, t := range trees {
		if !t.Mine {
			continue
		}
		done, err := r.remove(ctx, t, w)
		if err != nil {
			return out, err
		}
		out = append(out, done)
	}
	return out, err
}

func (r *repository) remove(ctx context.Context, t Tree, w RemoveOptions) (Removal, error) {
	unlock, held := filelock.Try(r.lock(t.slug))
	if held == nil {
		defer unlock()
		r.look2(ctx, &t)
	}
	out := Removal{Tree: t, Lost: t.Loses()}
	switch {
	case held != nil:
		out.InUse, out.Reason, out.Lost = true, "a session works in it", nil
	case t.Locked:
		out.Reason = "it is locked by git worktree lock"
	case len(out.Lost) > 0 && !w.Force:
		out.Reason = "it would lose " + strings.Join(out.Lost, " and ")
	}
	if out.Reason != "" || w.Dry {
		return out, nil
	}
	if t.record.OwnBranch {
		out.Commit, _ = r.Branch(ctx, t.record.Branch) // on an error there is no branch
	}
	if err := r.discard(ctx, t.slug, t.record); err != nil {
		return out, err
	}
	out.Removed = true
	return out, nil
}

// look2 repeats look under the exclusive lock.
func (r *repository) look2(ctx context.Context, t *Tree) {
	fresh := Tree{Name: t.Name, Path: t.Path, Mine: true, Interrupted: t.Interrupted, record: t.record, slug: t.slug}
	if list, err := r.Worktrees(ctx); err == nil {
		r.list = list
	}
	r.prepare(ctx, &fresh)
	r.look(ctx, &fresh)
	fresh.InUse = false // by us
	*t = fresh
}

// discard removes a work tree and then its record, so that a crash in between leaves a record.
func (r *repository) discard(ctx context.Context, slug string, rec Record) error {
	rec.Ready = false
	if err := r.write(slug, rec); err != nil {
		return err
	}
	err := r.RemoveWorktree(ctx, rec.Path)
	if _, gone := os.Lstat(rec.Path); err != nil && gone == nil {
		if rerr := os.Remove(rec.Path); rerr != nil { // git made only the folder
			return fmt.Errorf("%s could not be removed: %w", rec.Path, errors.Join(err, rerr))
		}
	}
	if err := r.PruneWorktrees(ctx); err != nil {
		return err
	}
	if rec.OwnBranch {
		at, err := r.Branch(ctx, rec.Branch)
		if err == nil && at != "" {
			err = r.DeleteBranch(ctx, rec.Branch, at)
		}
		if err != nil {
			return err
		}
	}
	return os.Remove(r.file(slug))
}
