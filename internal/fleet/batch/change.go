package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// addAll adds all files of a folder to an index. It ignores a .git in the folder, where the task
// may have configured programs that git would run.
func (w *work) addAll(ctx context.Context, folder string, env []string) error {
	_, err := w.git(ctx, folder, env, "-c", "core.bare=false", "-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", ".")
	return err
}

// patch writes the clone's changes as a patch, if there are any, and returns the current tree.
func (w *work) patch(ctx context.Context, path string, r *Result) (tree string, err error) {
	env := []string{"GIT_DIR=" + w.source(), "GIT_WORK_TREE=" + w.clone(), "GIT_INDEX_FILE=" + filepath.Join(w.dir, "index")}
	if err := w.addAll(ctx, w.clone(), env); err != nil {
		return "", err
	}
	stat, err := w.git(ctx, w.dir, env, "diff-index", "--cached", "--shortstat", "--no-ext-diff", "--no-textconv", "--no-renames", w.base)
	if err != nil {
		return "", err
	}
	if stat == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // from an earlier attempt
			return "", err
		}
		return "", nil
	}
	if _, err := fmt.Sscan(stat, &r.Changed); err != nil {
		return "", err
	}
	if _, err := w.git(ctx, w.dir, env, "diff-index", "--cached", "-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames",
		"--src-prefix=a/", "--dst-prefix=b/", "--output="+path, w.base); err != nil {
		return "", err
	}
	r.Patch = path
	return w.git(ctx, w.dir, env, "write-tree")
}

// Reasons for not pushing a change.
var (
	ErrNobody = errors.New("git does not know who commits")
	errCommit = errors.New("git made no commit")
	errExists = errors.New("the branch is there already")
)

// push commits a tree and pushes it as the task's branch. It never changes an existing branch; one
// with the same change counts as pushed, by an earlier attempt that was lost afterwards.
func (w *work) push(ctx context.Context, tree string) (commit string, err error) {
	commit, err = w.git(ctx, w.source(), w.signature(), "commit-tree", "-p", w.base, "-m", message(w.t), tree)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errCommit, err)
	}
	ref := "refs/heads/" + w.t.Branch
	if _, err = w.git(ctx, w.source(), nil, "push", "--quiet", "--no-verify", "--force-with-lease="+ref+":", "--", w.t.Repo, commit+":"+ref); err == nil {
		return commit, nil
	}
	if _, fetched := w.git(ctx, w.source(), nil, "fetch", "--quiet", "--", w.t.Repo, "+"+ref+":refs/adze/there"); fetched == nil {
		at, _ := w.git(ctx, w.source(), nil, "log", "-1", "--format=%T %P %H", "refs/adze/there")
		if earlier, same := strings.CutPrefix(at, tree+" "+w.base+" "); same {
			return earlier, nil
		}
		err = fmt.Errorf("%w: %w", errExists, err)
	}
	return "", fmt.Errorf("the branch %s could not be pushed: %w", w.t.Branch, err)
}

func pushHint(err error) string {
	again := "; then run the batch again with --retry push"
	switch {
	case full(err):
		return "make room on the disk of the machine where the task ran" + again
	case errors.Is(err, errExists):
		return "choose another branch or remove the one that is there" + again
	case errors.Is(err, errCommit):
		return "set user.name and user.email with git config --global, or GIT_AUTHOR_NAME, GIT_COMMITTER_NAME and their EMAILs, where the task ran" + again
	}
	return "check that git can push to the repository from where the task ran (address, login, rules for branches)" + again
}

// mayCommit returns ErrNobody if branches are to be pushed and git has no author configured.
func (r *Runner) mayCommit(ctx context.Context, tasks []Task) error {
	if !slices.ContainsFunc(tasks, func(t Task) bool { return t.Branch != "" }) {
		return nil
	}
	if _, err := r.git(ctx, os.TempDir(), nil, "var", "GIT_COMMITTER_IDENT"); err != nil {
		return fmt.Errorf("branches are to be pushed: %w: %w", ErrNobody, err)
	}
	return nil
}

// signature returns the committer: the user in git's configuration, or adze for a folder without
// git.
func (w *work) signature() []string {
	if w.t.Folder == "" {
		return nil
	}
	return []string{"GIT_AUTHOR_NAME=adze", "GIT_AUTHOR_EMAIL=", "GIT_COMMITTER_NAME=adze", "GIT_COMMITTER_EMAIL="}
}

// message returns the commit message: the task's own, or the first line of its prompt or command.
func message(t Task) string {
	if t.Message != "" {
		return t.Message
	}
	first, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(t.Prompt, t.Command)), "\n")
	if r := []rune(first); len(r) > 72 {
		first = string(r[:71]) + "…"
	}
	return first
}
