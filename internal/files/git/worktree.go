package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Worktree is a worktree as listed by git.
type Worktree struct {
	Path   string // absolute
	Head   string // full hash; "" if nothing is checked out yet
	Branch string // "" when detached
	Bare   bool
	Locked bool // locked by the user against removal
}

// Worktrees lists the repository's worktrees, the main one first.
func (r *Repo) Worktrees(ctx context.Context) (list []Worktree, err error) {
	err = r.records(ctx, func(line string) {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			list = append(list, Worktree{Path: value})
			return
		}
		if len(list) == 0 {
			return
		}
		w := &list[len(list)-1]
		switch key {
		case "HEAD":
			if strings.Trim(value, "0") != "" {
				w.Head = value
			}
		case "branch":
			w.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "bare":
			w.Bare = true
		case "locked":
			w.Locked = true
		}
	}, "worktree", "list", "--porcelain", "-z")
	return list, err
}

// MainTop returns the root of the main worktree, which is not linked, or "" if the repository is
// bare or does not name it.
func (r *Repo) MainTop(ctx context.Context) string {
	if r.Common == r.GitDir {
		return r.Top
	}
	top := filepath.Dir(r.Common)
	if filepath.Base(r.Common) != ".git" {
		text, err := r.text(ctx, "config", "--file", filepath.Join(r.Common, "config"), "--no-includes", "--get", "core.worktree")
		if err != nil {
			return ""
		}
		top = resolved(r.Common, strings.TrimSpace(text))
	}
	if !(&Repo{Top: top, GitDir: r.Common}).ownedBy(filepath.Join(top, ".git")) {
		return "" // the tree does not name the repository
	}
	return top
}

// AddWorktree creates a worktree at path, which must not exist. A non-empty from creates the branch
// there, a remote's branch as its upstream; otherwise the branch must exist. Hooks and content
// filters do not run, and submodules are not fetched.
func (r *Repo) AddWorktree(ctx context.Context, path, branch, from string) error {
	if err := soundPath(path); err != nil {
		return err
	}
	if err := r.soundBranch(ctx, branch); err != nil {
		return err
	}
	args := []string{"worktree", "add", "--quiet"}
	switch {
	case from == "":
		args = append(args, path, branch)
	case IsHash(from):
		args = append(args, "--no-track", "-b", branch, path, from)
	case strings.HasPrefix(from, "refs/remotes/"):
		args = append(args, "-b", branch, path, from)
	default:
		return fail(CodeInvalid, ErrRevision, "%.40q is no full hash", from)
	}
	_, err := r.text(ctx, args...)
	return err
}

// RemoveWorktree deletes the worktree at path with all its files, even if incomplete or locked.
func (r *Repo) RemoveWorktree(ctx context.Context, path string) error {
	if err := soundPath(path); err != nil {
		return err
	}
	_, err := r.text(ctx, "worktree", "remove", "--force", "--force", path)
	return err
}

// ReadIndex restores a missing index from the worktree's commit: a killed checkout writes its files
// first. Files are not touched. Nobody else may use the worktree meanwhile.
func (r *Repo) ReadIndex(ctx context.Context) error {
	index := filepath.Join(r.GitDir, "index")
	if _, err := os.Lstat(index); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(index + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := r.text(ctx, "read-tree", "HEAD")
	return err
}

// PruneWorktrees removes the records of worktrees whose folders are gone.
func (r *Repo) PruneWorktrees(ctx context.Context) error {
	_, err := r.text(ctx, "worktree", "prune", "--expire", "now")
	return err
}

// Branch returns a local branch's commit, or "" if there is none.
func (r *Repo) Branch(ctx context.Context, name string) (string, error) {
	if err := r.soundBranch(ctx, name); err != nil {
		return "", err
	}
	out, err := r.text(ctx, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/"+name)
	for line := range strings.Lines(out) {
		if ref, at, _ := strings.Cut(strings.TrimSpace(line), " "); ref == "refs/heads/"+name && IsHash(at) {
			return at, err
		}
	}
	return "", err
}

// RemoteBranch returns the ref and the commit of a branch that exactly one remote has, or the
// remote of checkout.defaultRemote, or "".
func (r *Repo) RemoteBranch(ctx context.Context, name string) (ref, at string, err error) {
	const format = "--format=%(refname) %(objectname)"
	out, err := r.text(ctx, "for-each-ref", format, "refs/remotes/*/"+name)
	if strings.Count(out, "\n") > 1 {
		remote, _ := r.text(ctx, "config", "checkout.defaultRemote") // an error means that it is not set
		out, err = r.text(ctx, "for-each-ref", format, "refs/remotes/"+strings.TrimSpace(remote)+"/"+name)
	}
	if ref, at, _ = strings.Cut(strings.TrimSpace(out), " "); !IsHash(at) {
		return "", "", err
	}
	return ref, at, err
}

// DeleteBranch deletes a branch if it is still at a commit.
func (r *Repo) DeleteBranch(ctx context.Context, name, at string) error {
	if err := r.soundBranch(ctx, name); err != nil {
		return err
	}
	_, err := r.text(ctx, "update-ref", "-d", "refs/heads/"+name, at)
	return err
}

// Unmerged counts the commits reachable from commits but from no ref other than branch.
func (r *Repo) Unmerged(ctx context.Context, branch string, commits ...string) (int, error) {
	args := []string{"rev-list", "--count", "--single-worktree"}
	for _, c := range commits {
		if !IsHash(c) {
			return 0, fail(CodeInvalid, ErrRevision, "%.40q is no full hash", c)
		}
		args = append(args, c)
	}
	out, err := r.text(ctx, append(args, "--not", "--exclude=refs/heads/"+branch, "--glob=refs/*")...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// Submodules reports whether submodule repositories exist for this worktree alone, which nothing
// else checks.
func (r *Repo) Submodules() bool {
	entries, err := os.ReadDir(filepath.Join(r.GitDir, "modules"))
	return err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// HasSubmodules reports whether the commit has submodules.
func (r *Repo) HasSubmodules() bool {
	_, err := os.Lstat(filepath.Join(r.Top, ".gitmodules"))
	return err == nil
}

// Untracked lists untracked files, including ignored ones, below the Repo's folder that match a
// pattern such as .env*, at most limit.
func (r *Repo) Untracked(ctx context.Context, limit int, patterns ...string) (names []string, err error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "-z", "--others"}
	for _, p := range patterns {
		args = append(args, "--ignored", "--exclude="+p)
	}
	err = r.records(ctx, func(name string) {
		if len(names) < limit && !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}, args...)
	return names, err
}

func soundPath(path string) error {
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\n\x00") {
		return fail(CodeInvalid, nil, "%q is not an absolute path that git can be given", path)
	}
	return nil
}

// soundBranch accepts a name valid for git that cannot be read as anything else.
func (r *Repo) soundBranch(ctx context.Context, name string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "@*?[\\\n\x00 ") {
		return fail(CodeInvalid, nil, "%q is no name of a branch", name)
	}
	if _, err := r.text(ctx, "check-ref-format", "refs/heads/"+name); err != nil {
		return fail(CodeInvalid, err, "%q is no name of a branch", name)
	}
	return nil
}
