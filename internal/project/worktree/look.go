package worktree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/git"
	"adze/internal/osfile/filelock"
)

// A Tree is a work tree with its state.
type Tree struct {
	Name        string `json:"name"`
	Path        string `json:"path"`
	Branch      string `json:"branch,omitempty"` // "" if detached
	Head        string `json:"head,omitempty"`
	Mine        bool   `json:"made_by_adze"`
	Interrupted bool   `json:"half_made,omitempty"` // its creation or removal was interrupted
	Missing     bool   `json:"gone,omitempty"`      // its folder is missing
	InUse       bool   `json:"in_use,omitempty"`    // an adze works in it
	Locked      bool   `json:"locked,omitempty"`    // git worktree lock
	Uncommitted int    `json:"uncommitted"`         // changed or untracked files
	Unmerged    int    `json:"unmerged"`            // commits reachable only from it
	// Unknown names the part that could not be examined, or is "".
	Unknown string `json:"unknown,omitempty"`

	record Record
	slug   string
}

// Loses describes what a removal would lose, or returns nil.
func (t Tree) Loses() (out []string) {
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			out = append(out, "1 "+one)
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s", n, many))
		}
	}
	count(t.Uncommitted, "file that is not committed", "files that are not committed")
	count(t.Unmerged, "commit that is on no other branch", "commits that are on no other branch")
	if t.Unknown != "" {
		out = append(out, t.Unknown)
	}
	return out
}

// List returns the repository's work trees by name, without the main one.
func (d Manager) List(ctx context.Context, dir string) ([]Tree, error) {
	r, err := d.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return r.trees(ctx)
}

func (r *repository) trees(ctx context.Context) (out []Tree, err error) {
	files, _ := filepath.Glob(r.file("*")) // the pattern is valid
	known := map[string]bool{}
	for _, f := range files {
		rec, err := readRecord(f)
		if err != nil {
			return nil, err
		}
		t := Tree{Name: rec.Name, Path: rec.Path, Mine: true, Interrupted: !rec.Ready, record: rec, slug: strings.TrimSuffix(filepath.Base(f), recordEnd)}
		known[rec.Path] = true
		r.look(ctx, &t)
		out = append(out, t)
	}
	for _, w := range r.list[1:] {
		if known[w.Path] {
			continue
		}
		t := Tree{Name: filepath.Base(w.Path), Path: w.Path}
		r.look(ctx, &t)
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Tree) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (r *repository) look(ctx context.Context, t *Tree) {
	if t.Mine {
		unlock, err := filelock.Try(r.lock(t.slug))
		if t.InUse = err != nil; !t.InUse {
			unlock()
		}
	}
	at := slices.IndexFunc(r.list, func(w git.Worktree) bool { return w.Path == t.Path })
	if at >= 0 {
		t.Branch, t.Head, t.Locked = r.list[at].Branch, r.list[at].Head, r.list[at].Locked && !t.Interrupted
	}
	if _, err := os.Lstat(t.Path); errors.Is(err, os.ErrNotExist) {
		t.Missing = true
	}
	if err := r.measure(ctx, t, at >= 0); err != nil {
		t.Unknown = "what it holds could not be looked at: " + err.Error()
	}
}

// measure counts the content that a removal would lose.
func (r *repository) measure(ctx context.Context, t *Tree, known bool) (err error) {
	var tips []string
	if t.Head != "" {
		tips = append(tips, t.Head)
	}
	if t.record.OwnBranch {
		at, err := r.Branch(ctx, t.record.Branch)
		if err != nil {
			return err
		}
		if at != "" {
			tips = append(tips, at)
		}
	}
	if len(tips) > 0 {
		own := t.record.Branch
		if !t.record.OwnBranch {
			own = "" // the branch stays
		}
		if t.Unmerged, err = r.Unmerged(ctx, own, tips...); err != nil {
			return err
		}
	}
	if t.Missing || !known && r.empty(t.Path) {
		return nil
	}
	repo, err := r.manager.Git.Open(ctx, t.Path)
	if err != nil {
		return err
	}
	if repo.Top != t.Path || repo.Common != r.Common {
		return errors.New("its folder belongs to another repository")
	}
	most := mostCopied * 10
	if t.Interrupted {
		most = math.MaxInt
	}
	s, err := repo.Status(ctx, ".", git.UntrackedAll, most)
	if err != nil {
		return err
	}
	t.Uncommitted = s.Staged.Total + s.Changed.Total + s.Conflicts.Total + s.Untracked.Total + r.copies(s, t)
	if t.Interrupted { // files not checked out yet, or already removed, count as deleted
		t.Uncommitted -= missing(t.Path, s.Staged.Entries) + missing(t.Path, s.Changed.Entries)
	}
	switch {
	case s.Operation != "":
		t.Unknown = s.Operation
	case repo.Submodules():
		t.Unknown = "submodules are checked out in it, which are not looked into"
	}
	return nil
}

// missing counts changes that lose nothing: the file is missing, or still empty.
func missing(top string, changes []git.Entry) (n int) {
	for _, e := range changes {
		info, err := os.Lstat(filepath.Join(top, e.Path))
		if errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			n++
		}
	}
	return n
}

// prepare repairs an interrupted work tree so that git can read it: its pointer to the repository,
// and an index. The caller holds the exclusive lock. look reports errors.
func (r *repository) prepare(ctx context.Context, t *Tree) {
	if !t.Interrupted {
		return
	}
	if info, err := os.Lstat(t.Path); err != nil || !info.IsDir() || r.empty(t.Path) {
		return
	}
	pointer := filepath.Join(t.Path, ".git")
	if _, err := os.Lstat(pointer); errors.Is(err, os.ErrNotExist) {
		names, _ := filepath.Glob(filepath.Join(r.Common, "worktrees", "*", "gitdir")) // the pattern is valid
		for _, name := range names {
			if back, ok := small(name); ok && back == pointer {
				_ = os.WriteFile(pointer, []byte("gitdir: "+filepath.Dir(name)+"\n"), 0o644)
			}
		}
	}
	if repo, err := r.manager.Git.Open(ctx, t.Path); err == nil && repo.Top == t.Path && repo.Common == r.Common {
		_ = repo.ReadIndex(ctx)
	}
}

// copies corrects a count for files that adze copied: one identical to the main checkout's is not
// lost, and a different one is, even if git ignores it.
func (r *repository) copies(s git.Status, t *Tree) (n int) {
	for _, name := range t.record.Copied {
		listed := slices.ContainsFunc(s.Untracked.Entries, func(e git.Entry) bool { return e.Path == name })
		_, err := os.Lstat(filepath.Join(t.Path, name))
		switch equal := same(filepath.Join(r.main, name), filepath.Join(t.Path, name)); {
		case listed && equal:
			n--
		case !listed && !equal && err == nil:
			n++
		}
	}
	return n
}

func same(a, b string) bool {
	left, err := os.ReadFile(a)
	if err != nil {
		return false
	}
	right, err := os.ReadFile(b)
	return err == nil && string(left) == string(right)
}

func (r *repository) empty(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}
