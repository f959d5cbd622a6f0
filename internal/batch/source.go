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
	"time"

	"github.com/gofrs/flock"

	"adze/internal/proc"
)

// maxGit bounds one run of git that talks with a server; a large repository takes its time.
const maxGit = 30 * time.Minute

// git runs git in a folder and returns what it wrote.
func (b *Batch) git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	own := slices.DeleteFunc(slices.Clone(b.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSH") && !strings.HasPrefix(name, "GIT_SSL") &&
			!strings.HasPrefix(name, "GIT_AUTHOR") && !strings.HasPrefix(name, "GIT_COMMITTER") && name != "GIT_ASKPASS" && name != "GIT_CONFIG_GLOBAL"
	})
	own = append(own, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false"}, args...)
	r, err := proc.Supervisor{}.Run(ctx, proc.Command{Argv: argv, Dir: dir, Env: append(own, env...), Timeout: maxGit, Separate: true, Head: 1 << 20, Tail: 4 << 10})
	switch {
	case err != nil:
		return "", err
	case r.Killed != proc.ByItself:
		return "", fmt.Errorf("git %s was ended (%s)", args[0], r.Killed)
	case r.Code != 0:
		return "", &gitError{verb(args), strings.TrimSpace(r.Errors.Head + r.Errors.Tail)}
	}
	return strings.TrimSpace(r.Output.Head), nil
}

// verb is the first word of a git command line that is no option.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// gitError is a git that did not succeed.
type gitError struct{ verb, said string }

func (e *gitError) Error() string {
	return "git " + e.verb + ": " + cmp.Or(lastLines(e.said, 4), "it failed")
}

// lastLines are the last lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// source is the bare repository that a task is cloned from: the mirror of its repository, or one
// that is made of its folder.
func (b *Batch) source(ctx context.Context, t Task) (string, error) {
	if t.Repo != "" {
		return b.mirror(ctx, t.Repo)
	}
	if info, err := os.Stat(t.Folder); err != nil || !info.IsDir() {
		return "", cmp.Or(err, fmt.Errorf("%s is no folder", t.Folder))
	}
	if top, err := b.git(ctx, t.Folder, nil, "rev-parse", "--show-toplevel"); err == nil && samePlace(top, t.Folder) {
		return b.mirror(ctx, t.Folder)
	}
	if t.Ref != "" {
		return "", fmt.Errorf("%s is no git repository, and so has no %s", t.Folder, t.Ref)
	}
	return b.adopt(ctx, t)
}

// adopt makes a bare repository of one commit of a folder that git does not know.
func (b *Batch) adopt(ctx context.Context, t Task) (string, error) {
	path := filepath.Join(b.dir(t), "folder.git")
	if err := os.RemoveAll(path); err != nil {
		return "", err
	}
	if _, err := b.git(ctx, b.dir(t), nil, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--", path); err != nil {
		return "", err
	}
	tree, err := b.tree(ctx, t, path, t.Folder, "", nil)
	if err != nil {
		return "", err
	}
	commit, err := b.git(ctx, path, b.signature(t, b.now()), "commit-tree", "-m", "The folder as it was", tree)
	if err == nil {
		_, err = b.git(ctx, path, nil, "update-ref", "refs/heads/main", commit)
	}
	return path, err
}

func samePlace(a, c string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(c)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// checkout makes the clone of a task and returns the commit that it starts from. Objects are
// copied: with hard links, what works in the clone could change those of the mirror, which other
// tasks are made of. At is the commit, where it is known; else it is found.
func (b *Batch) checkout(ctx context.Context, t Task, at string) (base string, err error) {
	if err := os.RemoveAll(b.dir(t)); err != nil {
		return "", err
	}
	if err := os.MkdirAll(b.dir(t), 0o700); err != nil {
		return "", err
	}
	from, err := b.source(ctx, t)
	if err != nil {
		return "", err
	}
	begin, err := b.start(ctx, t, from, at)
	if err != nil {
		return "", err
	}
	if _, err := b.git(ctx, b.dir(t), nil, "clone", "--quiet", "--no-hardlinks", "--no-checkout", "--template=", "--", from, b.clone(t)); err != nil {
		return "", err
	}
	if err := b.comesFrom(ctx, b.clone(t), from, cmp.Or(t.Repo, t.Folder)); err != nil {
		return "", err
	}
	how := []string{"checkout", "--quiet", "--detach", begin.base}
	if begin.branch != "" {
		how = []string{"checkout", "--quiet", "-B", begin.branch, begin.base}
	}
	if _, err = b.git(ctx, b.clone(t), nil, how...); err == nil {
		return begin.base, nil
	}
	if _, known := b.git(ctx, b.clone(t), nil, "rev-parse", "--quiet", "--verify", begin.base+"^{commit}"); known == nil {
		return "", err
	}
	if _, err := b.git(ctx, b.clone(t), nil, "fetch", "--quiet", "--", from, fetched(t)); err != nil { // a commit that no branch leads to
		return "", err
	}
	_, err = b.git(ctx, b.clone(t), nil, how...)
	return begin.base, err
}

// resolve finds the commit that a task starts from; what no branch or tag leads to, such as
// refs/pull/7/head, is asked of the repository.
func (b *Batch) resolve(ctx context.Context, t Task, from, at string) (string, error) {
	ref := cmp.Or(at, t.Ref, "HEAD")
	base, err := b.git(ctx, from, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err == nil {
		return base, nil
	}
	if at != "" && t.Ref == "" {
		return "", fmt.Errorf("%s has no commit %s any more, which the work was begun on", t.Source(), at)
	}
	if t.Ref == "" {
		return "", fmt.Errorf("%s has no commit yet", t.Source())
	}
	if err := b.fetchRef(ctx, t, from); err != nil {
		return "", fmt.Errorf("%s has no %q: %w", t.Source(), t.Ref, err)
	}
	return b.git(ctx, from, nil, "rev-parse", "--verify", cmp.Or(at, fetched(t))+"^{commit}")
}

// lockFile holds a file for this process alone, or says that another one has it. The lock ends with
// the process.
func lockFile(path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil || !ok {
		return nil, cmp.Or(err, errHeld)
	}
	return func() { _ = l.Close() }, nil
}

// waitFile holds a file as lockFile does, and waits for others that have it.
func waitFile(ctx context.Context, path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, lockPause); err != nil {
		return nil, err
	}
	return func() { _ = l.Close() }, nil
}

const lockPause = 50 * time.Millisecond

var errHeld = errors.New("it is held by another process")
