package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/files/filelock"
)

// mirrors are the bare copies of repositories, one of each, which tasks are cloned from. A mirror
// has what tasks have needed so far, and not all that the repository has.
type mirrors struct {
	dir string

	mu     sync.Mutex
	starts map[string]*sharedStart // by repository and ref
}

// sharedStart is a start that all tasks of the batch with the same repository and ref share.
type sharedStart struct {
	once sync.Once
	start
	err error
}

// mirrored is where the bare copy of a repository is. The number is of its layout.
func (b *Batch) mirrored(repo string) string {
	sum := sha256.Sum256([]byte(repo))
	return filepath.Join(b.mirrors.dir, hex.EncodeToString(sum[:10])+"-2.git")
}

// A mirror has two files of locks beside it. The one ends with .lock: who changes what the mirror
// has holds it alone, who copies from it holds it with others. The other ends with .used: a task
// holds it with others for as long as it may read the mirror, and Sweep holds it alone.
func (b *Batch) use(ctx context.Context, t Task) (unuse func(), err error) {
	path := b.mirrored(cmp.Or(t.Repo, t.Folder)) + ".used"
	unuse, err = filelock.Share(ctx, path)
	if err == nil {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // Sweep removes what was used least recently
	}
	return unuse, err
}

// All branches and tags of a repository.
const (
	allHeads = "+refs/heads/*:refs/heads/*"
	allTags  = "+refs/tags/*:refs/tags/*"
)

// obtain returns the commit of a wanted ref from the mirror of a repository, and has the mirror
// fetch it where it is not there. Nothing else is fetched: of a repository with thousands of
// branches, most are of no use to a task. At is the commit where it is known.
func (b *Batch) obtain(ctx context.Context, repo string, w wanted, at string) (base string, err error) {
	path := b.mirrored(repo)
	commit := cmp.Or(at, w.commit)
	if base, err := b.commitIn(ctx, path, commit); err == nil {
		return base, nil
	}
	unlock, err := filelock.Wait(ctx, path+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if base, err := b.commitIn(ctx, path, commit); err == nil { // another task has fetched it meanwhile
		return base, nil
	}
	if err := b.ready(ctx, path, w); err != nil {
		return "", err
	}
	var failed error
	for _, ask := range w.asks(at) {
		if failed = b.fetch(ctx, path, repo, ask.refs...); failed != nil {
			continue
		}
		if base, err = b.commitIn(ctx, path, cmp.Or(at, ask.read)); err == nil {
			b.tidy(ctx, path)
			return base, nil
		}
	}
	return "", cmp.Or(failed, err)
}

// commitIn returns the full name of a commit that a mirror has.
func (b *Batch) commitIn(ctx context.Context, mirror, name string) (string, error) {
	if name == "" || !isThere(filepath.Join(mirror, "HEAD")) {
		return "", errors.New("there is no such commit")
	}
	return b.git(ctx, mirror, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
}

// ready makes a mirror that is missing, and takes away the locks that a killed git left in one. The
// caller holds the mirror.
func (b *Batch) ready(ctx context.Context, path string, w wanted) error {
	if isThere(filepath.Join(path, "HEAD")) {
		return unlockRefs(path)
	}
	half := path + ".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if _, err := b.git(ctx, b.mirrors.dir, initEnv(w.commit), "init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--", half); err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return os.Rename(half, path)
}

// initEnv has git init make a repository whose names are as long as those of a commit, with refs in
// files.
func initEnv(commit string) []string {
	env := []string{"GIT_DEFAULT_REF_FORMAT=files"}
	if len(commit) == 2*sha256.Size {
		env = append(env, "GIT_DEFAULT_HASH=sha256")
	}
	return env
}

// fetch brings refs into a mirror, with the tags on their history. What comes is one pack each time
// and no loose objects. The caller holds the mirror.
func (b *Batch) fetch(ctx context.Context, mirror, repo string, refs ...string) error {
	args := []string{"-c", "fetch.unpackLimit=1", "-c", "fetch.writeCommitGraph=false", "fetch", "--quiet", "--force", "--update-shallow", "--no-write-fetch-head", "--", repo}
	_, err := b.git(ctx, mirror, nil, append(args, refs...)...)
	return err
}

// tooManyPacks is how many packs a mirror has until it is packed anew.
const tooManyPacks = 10

// tidy packs a mirror that has many packs, and its refs. No object is dropped by it, also none that
// no ref leads to any more: tasks that run may read it. The caller holds the mirror, so that nobody
// copies packs at this moment. A mirror that cannot be packed stays as it is.
func (b *Batch) tidy(ctx context.Context, mirror string) {
	packs, _ := filepath.Glob(filepath.Join(mirror, "objects", "pack", "*.pack")) // the pattern is sound
	if len(packs) < tooManyPacks {
		return
	}
	_, _ = b.git(ctx, mirror, nil, "repack", "--quiet", "-d", "--geometric=2")
	_, _ = b.git(ctx, mirror, nil, "pack-refs", "--all")
}

// unlockRefs takes away the locks that a killed git left in a mirror: git never does, and each
// later fetch would fail. The caller holds the mirror, so that nobody fetches there now.
func unlockRefs(mirror string) error {
	return filepath.WalkDir(mirror, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // git removes folders that become empty
			return nil
		case err != nil:
			return err
		case e.IsDir() && path == filepath.Join(mirror, "objects"):
			return fs.SkipDir
		case e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".lock"): // no ref has such a name (git-check-ref-format(1))
			return os.Remove(path)
		}
		return nil
	})
}

// wanted is what the repository says of the ref of a task.
type wanted struct {
	ref    string // as the task names it; if empty, HEAD
	full   string // the ref's whole name; if empty, no ref is called so
	commit string // what it is at: a commit, or a tag of one
	branch string // which HEAD is, or the ref
}

// look asks a repository for the ref of a task.
func (b *Batch) look(ctx context.Context, repo, ref string) (w wanted, err error) {
	w.ref = ref
	if isObjectName(ref) {
		w.commit = ref
		return w, nil
	}
	out, err := b.git(ctx, b.mirrors.dir, nil, "ls-remote", "--symref", "--", repo, cmp.Or(ref, "HEAD"))
	if err != nil {
		return w, err
	}
	at, names := map[string]string{}, []string{ref, "refs/" + ref, "refs/tags/" + ref, "refs/heads/" + ref} // gitrevisions(7)
	if ref == "" {
		names = []string{"HEAD"}
	}
	for line := range strings.Lines(out) {
		value, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if head, is := strings.CutPrefix(value, "ref: refs/heads/"); is && name == "HEAD" {
			w.branch = head
		} else if !strings.HasPrefix(value, "ref: ") {
			at[name] = value
		}
	}
	if ref != "" && ref != "HEAD" {
		w.branch = ""
	}
	for _, name := range names {
		if at[name] == "" {
			continue
		}
		w.full, w.commit = name, at[name]
		if head, is := strings.CutPrefix(name, "refs/heads/"); is {
			w.branch = head
		}
		return w, nil
	}
	w.branch = ""
	return w, nil
}

// isObjectName reports the whole name of an object, in SHA-1 or SHA-256.
func isObjectName(name string) bool {
	return (len(name) == 40 || len(name) == 2*sha256.Size) && strings.Trim(name, "0123456789abcdef") == ""
}

// ask is one way to get a wanted commit, and the name that it has in the mirror then.
type ask struct {
	refs []string
	read string
}

// asks lists the ways to get a wanted ref, the cheapest first. Who names a part of a commit's name,
// or an expression such as main~2, needs all branches and tags; so does a commit that a server does
// not give by its name.
func (w wanted) asks(at string) (out []ask) {
	sum := sha256.Sum256([]byte(w.ref))
	// Batches that run at the same time have the same mirror, so that a ref in it says what it is,
	// and not whose.
	own := "refs/adze/" + hex.EncodeToString(sum[:10])
	if w.full != "" {
		out = append(out, ask{[]string{"+" + w.full + ":" + own}, own})
	}
	if commit := cmp.Or(at, w.commit); isObjectName(commit) && (at != "" || w.full == "") {
		out = append(out, ask{[]string{"+" + commit + ":" + own}, own})
	}
	if w.full == "" || at != "" {
		out = append(out, ask{[]string{allHeads, allTags}, cmp.Or(at, w.ref, "HEAD")})
	}
	return out
}

// startOf finds where a task begins, with at as the commit where it is known. What is found once
// holds for all tasks of the batch that name the same repository and ref.
func (b *Batch) startOf(ctx context.Context, t Task, at string) (start, error) {
	repo := cmp.Or(t.Repo, t.Folder)
	if at != "" {
		return b.findStart(ctx, t, repo, at)
	}
	key := repo + "\x00" + t.Ref
	b.mirrors.mu.Lock()
	if b.mirrors.starts == nil {
		b.mirrors.starts = map[string]*sharedStart{}
	}
	s := b.mirrors.starts[key]
	if s == nil {
		s = &sharedStart{}
		b.mirrors.starts[key] = s
	}
	b.mirrors.mu.Unlock()
	s.once.Do(func() { s.start, s.err = b.findStart(ctx, t, repo, "") })
	return s.start, s.err
}

func (b *Batch) findStart(ctx context.Context, t Task, repo, at string) (s start, err error) {
	w, err := b.look(ctx, repo, t.Ref)
	if err != nil {
		return s, err
	}
	if t.Ref == "" && w.full == "" && at == "" {
		return s, fmt.Errorf("%s has no commit yet", t.Source())
	}
	s.mirror, s.branch = b.mirrored(repo), w.branch
	if s.base, err = b.obtain(ctx, repo, w, at); err != nil && ctx.Err() == nil {
		if at != "" {
			return s, fmt.Errorf("%s has no commit %s any more, which the work was begun on: %w", t.Source(), at, err)
		}
		return s, fmt.Errorf("%s has no %q: %w", t.Source(), cmp.Or(t.Ref, "HEAD"), err)
	}
	return s, err
}
