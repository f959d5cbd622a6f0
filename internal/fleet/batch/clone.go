package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/sandbox/proc"
)

// maxGit limits a git command that uses the network; large repositories take long.
const maxGit = 30 * time.Minute

// git runs git in a folder and returns its output.
func (r *Runner) git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	own := slices.DeleteFunc(slices.Clone(r.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSH") && !strings.HasPrefix(name, "GIT_SSL") &&
			!strings.HasPrefix(name, "GIT_AUTHOR") && !strings.HasPrefix(name, "GIT_COMMITTER") && name != "GIT_ASKPASS" && name != "GIT_CONFIG_GLOBAL"
	})
	own = append(own, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false"}, args...)
	res, err := proc.Supervisor{}.Run(ctx, proc.Command{Argv: argv, Dir: dir, Env: append(proc.WithoutPathsIn(own, dir), env...), Timeout: maxGit, Separate: true, Head: 1 << 20, Tail: 4 << 10})
	verb := args[slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })]
	switch {
	case err != nil:
		return "", err
	case res.Killed != proc.ByItself:
		return "", fmt.Errorf("git %s was ended (%s)", verb, res.Killed)
	case res.Code != 0:
		return "", fmt.Errorf("git %s: %s", verb, cmp.Or(lastLines(res.Errors.Head+res.Errors.Tail, 4), "it failed"))
	}
	return strings.TrimSpace(res.Output.Head), nil
}

// source returns the path of a bare clone that the task's commands cannot write to: git makes the
// patch with its settings, not with those in the task's own clone.
func (w *work) source() string { return filepath.Join(w.dir, "source.git") }

func (w *work) fetch(ctx context.Context) error {
	if err := os.RemoveAll(w.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	origin := cmp.Or(w.t.Repo, w.t.Folder)
	if err := w.fetchSource(ctx, origin); err != nil {
		return err
	}
	base, err := w.git(ctx, w.source(), nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return fmt.Errorf("%s has no commit yet", origin)
	}
	w.base = base
	// Not local: clones must not share files, which a task could change.
	if _, err := w.git(ctx, w.dir, nil, "clone", "--quiet", "--no-local", "--single-branch", "--template=", "--", w.source(), w.clone()); err != nil {
		return err
	}
	if _, err := w.git(ctx, w.clone(), nil, "config", "remote.origin.url", origin); err != nil {
		return err
	}
	return copyWithTime(filepath.Join(w.dir, "index"), filepath.Join(w.clone(), ".git", "index"))
}

// fetchSource makes the bare clone with the task's first commit as HEAD.
func (w *work) fetchSource(ctx context.Context, origin string) error {
	if w.t.Folder != "" {
		if info, err := os.Stat(w.t.Folder); err != nil || !info.IsDir() {
			return cmp.Or(err, fmt.Errorf("%s is no folder", w.t.Folder))
		}
		top, err := w.git(ctx, w.t.Folder, nil, "rev-parse", "--show-toplevel")
		if err != nil || !samePlace(top, w.t.Folder) {
			return w.adopt(ctx)
		}
	}
	reference, giveBack := w.references.lend(origin)
	defer giveBack()
	args := []string{"clone", "--quiet", "--bare", "--single-branch", "--template="}
	if reference != "" {
		args = append(args, "--reference-if-able="+reference, "--dissociate")
	}
	if w.t.Ref != "" {
		args = append(args, "--branch="+w.t.Ref)
	}
	if _, err := w.git(ctx, w.dir, nil, append(args, "--", origin, w.source())...); err == nil || w.t.Ref == "" || ctx.Err() != nil {
		return err
	}
	return w.fetchRef(ctx, origin)
}

// fetchRef makes the bare clone at a ref other than a branch or tag: another ref, a commit, or an
// expression such as origin/main~2.
func (w *work) fetchRef(ctx context.Context, origin string) error {
	if err := os.RemoveAll(w.source()); err != nil {
		return err
	}
	format := "--object-format=sha1"
	if len(w.t.Ref) == 2*sha256.Size && isObjectName(w.t.Ref) {
		format = "--object-format=sha256"
	}
	if _, err := w.git(ctx, w.dir, nil, "init", "--quiet", "--bare", "--template=", format, "--", w.source()); err != nil {
		return err
	}
	read := "refs/adze/task"
	if _, err := w.git(ctx, w.source(), nil, "fetch", "--quiet", "--", origin, "+"+w.t.Ref+":"+read); err != nil {
		read = w.t.Ref
		if _, err := w.git(ctx, w.source(), nil, "fetch", "--quiet", "--", origin, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"); err != nil {
			return err
		}
	}
	base, err := w.git(ctx, w.source(), nil, "rev-parse", "--verify", "--quiet", "--end-of-options", read+"^{commit}")
	if err != nil {
		return fmt.Errorf("%s has no %q", origin, w.t.Ref)
	}
	_, err = w.git(ctx, w.source(), nil, "update-ref", "--no-deref", "HEAD", base)
	return err
}

// isObjectName reports whether name is a complete SHA-1 or SHA-256 object name.
func isObjectName(name string) bool {
	return (len(name) == 40 || len(name) == 2*sha256.Size) && strings.Trim(name, "0123456789abcdef") == ""
}

// adopt makes a bare clone with one commit from a folder without git.
func (w *work) adopt(ctx context.Context) error {
	if w.t.Ref != "" {
		return fmt.Errorf("%s is no git repository, and so has no %s", w.t.Folder, w.t.Ref)
	}
	if _, err := w.git(ctx, w.dir, nil, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--", w.source()); err != nil {
		return err
	}
	env := []string{"GIT_DIR=" + w.source(), "GIT_WORK_TREE=" + w.t.Folder, "GIT_INDEX_FILE=" + filepath.Join(w.dir, "index")}
	if err := w.addAll(ctx, w.t.Folder, env); err != nil {
		return err
	}
	tree, err := w.git(ctx, w.t.Folder, env, "write-tree")
	if err != nil {
		return err
	}
	commit, err := w.git(ctx, w.source(), w.signature(), "commit-tree", "-m", "The folder as it was", tree)
	if err == nil {
		_, err = w.git(ctx, w.source(), nil, "update-ref", "refs/heads/main", commit)
	}
	return errors.Join(err, os.Remove(filepath.Join(w.dir, "index")))
}

func samePlace(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// copyWithTime copies an index with its modification time: git re-reads files changed at that time.
func copyWithTime(to, from string) error {
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

// maxReferences limits the repositories kept for further clones.
const maxReferences = 8

// references holds earlier tasks' bare clones. Another clone of the same repository reuses their
// objects and fetches only the rest.
type references struct {
	mu   sync.Mutex
	all  []*reference // least recently used first
	made int
}

type reference struct {
	origin, path string
	users        int
}

// lend returns a repository's reference, or "". It is kept until giveBack.
func (s *references) lend(origin string) (path string, giveBack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.all, func(r *reference) bool { return r.origin == origin })
	if at < 0 {
		return "", func() {}
	}
	r := s.all[at]
	s.all = append(slices.Delete(s.all, at, at+1), r)
	r.users++
	return r.path, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.users--
	}
}

func (r *Runner) referenceDir() string { return filepath.Join(r.Dir, ".references") }

// keepReference keeps a finished task's bare clone unless its repository has one already. Above
// maxReferences it removes the least recently used idle one.
func (w *work) keepReference() {
	if w.t.Repo == "" || w.base == "" {
		return
	}
	s := &w.references
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.all, func(r *reference) bool { return r.origin == w.t.Repo }) || os.MkdirAll(w.referenceDir(), 0o700) != nil {
		return
	}
	s.made++
	path := filepath.Join(w.referenceDir(), fmt.Sprint(s.made, ".git"))
	if os.Rename(w.source(), path) != nil {
		return
	}
	s.all = append(s.all, &reference{origin: w.t.Repo, path: path})
	if idle := slices.IndexFunc(s.all, func(r *reference) bool { return r.users == 0 }); idle >= 0 && len(s.all) > maxReferences {
		_ = os.RemoveAll(s.all[idle].path) // the rest is removed with the folder
		s.all = slices.Delete(s.all, idle, idle+1)
	}
}

// clearReferences removes all references, also earlier processes'.
func (r *Runner) clearReferences() error { return os.RemoveAll(r.referenceDir()) }
