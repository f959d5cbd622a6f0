package batch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/text/lineread"
)

// tree is the files of a folder as a tree in a bare repository. Of a .git in the folder nothing is
// read: whatever worked there may have written programs for git to run into it.
func (b *Batch) tree(ctx context.Context, t Task, bare, folder, base string, env []string) (tree string, err error) {
	err = b.staged(ctx, t, bare, folder, base, env, func(env []string) error {
		tree, err = b.git(ctx, folder, env, "write-tree")
		return err
	})
	return tree, err
}

// staged has the files of a folder in an index, for as long as do takes.
//
// The index is a new one each time, in the task's own folder: of one whose git was killed, its lock
// is left. It begins as the index of the clone was before anybody worked there, so that git reads
// only what has changed since.
func (b *Batch) staged(ctx context.Context, t Task, bare, folder, base string, env []string, do func(env []string) error) error {
	scratch, err := os.MkdirTemp(b.dir(t), "index-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) // what is left of it goes with the task's folder
	index := filepath.Join(scratch, "index")
	env = append([]string{"GIT_DIR=" + bare, "GIT_WORK_TREE=" + folder, "GIT_INDEX_FILE=" + index}, env...)
	add := func() error {
		_, err := b.git(ctx, folder, env, "-c", "core.bare=false", "-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", ".")
		return err
	}
	begun := base != "" && copyIndex(b.pristine(t), index) == nil && add() == nil
	if !begun {
		_ = os.Remove(index)
		if base != "" {
			if _, err := b.git(ctx, folder, env, "read-tree", base); err != nil {
				return err
			}
		}
		if err := add(); err != nil {
			return err
		}
	}
	return do(env)
}

// pristine is where the index of a clone lies as it was made.
func (b *Batch) pristine(t Task) string { return filepath.Join(b.dir(t), "pristine") }

// copyIndex copies an index with its time: git reads files again that changed at that time.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, raw, 0o600), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// change is what a task made of its commit.
type change struct {
	patch string // of git diff --binary; if empty, nothing changed
	files int
	tree  string   // where it is to be pushed
	env   []string // where its objects are
}

// changed compares the clone with the commit that it was made of. New objects go to a folder of the
// task's own.
func (b *Batch) changed(ctx context.Context, t Task, base string) (c change, err error) {
	if b.latest != nil { // nothing has run there since
		return *b.latest, nil
	}
	bare, err := b.bare(ctx, t, base)
	if err != nil {
		return c, err
	}
	objects := filepath.Join(b.dir(t), "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return c, err
	}
	c.env = []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(bare, "objects")}
	patch := filepath.Join("patches", t.ID+".patch")
	err = b.staged(ctx, t, bare, b.clone(t), base, c.env, func(env []string) error {
		_, err := b.git(ctx, bare, env, "diff-index", "--cached", "-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/",
			"--output="+filepath.Join(b.Out, patch), base)
		if err == nil && b.Push && t.Branch != "" {
			c.tree, err = b.git(ctx, bare, env, "write-tree")
		}
		return err
	})
	if err != nil {
		return c, err
	}
	if c.files, err = patchedFiles(filepath.Join(b.Out, patch)); c.files > 0 {
		c.patch = patch
	} else if err == nil {
		err = os.Remove(filepath.Join(b.Out, patch))
	}
	return c, err
}

// patchedFiles counts the files of a patch of git: no line of a content begins as the header of a
// file does.
func patchedFiles(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := lineread.New(f, maxHeader)
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case errors.Is(err, lineread.ErrLong): // of a content
		case err != nil:
			return n, err
		case bytes.HasPrefix(line, []byte("diff --git ")):
			n++
		}
	}
}

// maxHeader bounds the header of a file in a patch, in bytes: it has its path twice, quoted.
const maxHeader = 64 << 10

// bare is the repository that the clone was made of. A mirror that was removed since is made again.
func (b *Batch) bare(ctx context.Context, t Task, base string) (string, error) {
	if own := filepath.Join(b.dir(t), "folder.git"); isThere(own) {
		return own, nil
	}
	if path := b.mirrored(cmp.Or(t.Repo, t.Folder)); isThere(filepath.Join(path, "HEAD")) {
		return path, nil
	}
	s, err := b.startOf(ctx, t, base)
	return s.mirror, err
}

func isThere(path string) bool { _, err := os.Stat(path); return err == nil }

// push makes a commit of a change and its branch in the repository. A branch that is there already
// stays as it is, unless it is at a commit that this task itself has pushed: its machine was lost
// then before the result could be written. Which commits these are is kept before each push.
func (b *Batch) push(ctx context.Context, t Task, p *Progress, c change) (string, error) {
	bare, err := b.bare(ctx, t, p.Base)
	if err != nil {
		return "", err
	}
	env := append(append([]string{"GIT_DIR=" + bare}, c.env...), b.signature(t, p.Began)...)
	commit, err := b.git(ctx, bare, env, "commit-tree", "-p", p.Base, "-m", message(t), c.tree)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoCommit, err)
	}
	if !slices.Contains(p.Pushing, commit) {
		p.Pushing = append(slices.Clone(p.Pushing), commit)
	}
	if err := b.remember(ctx, t, *p); err != nil { // also the proof that the task is still this machine's
		return "", fmt.Errorf("%w: %w", ErrKept, err)
	}
	ref := "refs/heads/" + t.Branch
	upload := func(over string) error {
		_, err := b.git(ctx, bare, env, "push", "--quiet", "--no-verify", "--force-with-lease="+ref+":"+over, "--", t.Repo, commit+":"+ref)
		return err
	}
	if err = upload(""); err == nil {
		return commit, nil
	}
	there, _ := b.git(ctx, bare, nil, "ls-remote", "--", t.Repo, ref)
	at, _, _ := strings.Cut(there, "\t")
	if at == commit {
		return commit, nil
	}
	if slices.Contains(p.Pushing, at) {
		if err = upload(at); err == nil {
			return commit, nil
		}
	}
	if at != "" {
		err = fmt.Errorf("%w: %w", errTaken, err)
	}
	return "", fmt.Errorf("the branch %s could not be pushed: %w", t.Branch, err)
}

// ErrNobody says that git does not know who commits.
var ErrNobody = errors.New("git does not know who commits")

// Reasons why a change is not pushed.
var (
	errNoCommit = errors.New("git made no commit")
	errTaken    = errors.New("the branch is there already")
)

// pushHint is the next move after a change was not pushed.
func pushHint(err error) string {
	switch {
	case full(err):
		return "make room on the disk of the machine where the task ran; then run the batch again with --retry push"
	case errors.Is(err, errTaken):
		return "choose another branch or remove the one that is there; then run the batch again with --retry push"
	case errors.Is(err, errNoCommit):
		return "set user.name and user.email with git config --global, or GIT_AUTHOR_NAME, GIT_COMMITTER_NAME and their EMAILs, where the task ran; then run the batch again with --retry push"
	}
	return "check that git can push to the repository from where the task ran (address, login, rules for branches); then run the batch again with --retry push"
}

// mayCommit says before anything is begun when git does not know who commits.
func (b *Batch) mayCommit(ctx context.Context) error {
	if !b.Push || !slices.ContainsFunc(b.Tasks, func(t Task) bool { return t.Branch != "" }) {
		return nil
	}
	if _, err := b.git(ctx, b.Out, nil, "var", "GIT_COMMITTER_IDENT"); err != nil {
		return fmt.Errorf("branches are to be pushed: %w: %w", ErrNobody, err)
	}
	return nil
}

// signature is who commits and when: the user as git knows them, at the time when the task began,
// so that the same work makes the same commit.
func (b *Batch) signature(t Task, began time.Time) []string {
	at := fmt.Sprintf("%d +0000", began.Unix())
	env := []string{"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
	if t.Folder != "" {
		env = append(env, "GIT_AUTHOR_NAME=adze", "GIT_AUTHOR_EMAIL=", "GIT_COMMITTER_NAME=adze", "GIT_COMMITTER_EMAIL=")
	}
	return env
}

// message is of the commit: the task's own, or the first line of what was asked for.
func message(t Task) string {
	first, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(t.Message, t.Prompt, t.Command)), "\n")
	if t.Message != "" {
		return t.Message
	}
	if r := []rune(first); len(r) > 72 {
		first = string(r[:71]) + "…"
	}
	return first
}
