package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// mirrors are the bare copies of repositories, one of each, which tasks are cloned from. Each is
// fetched once a batch.
type mirrors struct {
	dir  string
	mu   sync.Mutex
	made map[string]*mirror

	starts map[string]start // where tasks begin, by mirror and ref
}

type mirror struct {
	once sync.Once
	path string
	err  error
}

// mirror is the bare copy of a repository, as new as this batch.
func (b *Batch) mirror(ctx context.Context, repo string) (string, error) {
	b.mirrors.mu.Lock()
	if b.mirrors.made == nil {
		b.mirrors.made = map[string]*mirror{}
	}
	m := b.mirrors.made[repo]
	if m == nil {
		m = &mirror{path: b.mirrored(repo)}
		b.mirrors.made[repo] = m
	}
	b.mirrors.mu.Unlock()
	m.once.Do(func() { m.err = b.fetch(ctx, repo, m.path) })
	return m.path, m.err
}

// mirrored is where the bare copy of a repository is.
func (b *Batch) mirrored(repo string) string {
	sum := sha256.Sum256([]byte(repo))
	return filepath.Join(b.mirrors.dir, hex.EncodeToString(sum[:10])+".git")
}

// fetch makes a mirror or brings it up to date, while no other batch does.
func (b *Batch) fetch(ctx context.Context, repo, path string) error {
	unlock, err := waitFile(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		if err := unlockRefs(path); err != nil {
			return err
		}
		_, err := b.git(ctx, path, nil, "fetch", "--quiet", "--prune", "--tags", "--force", "--", repo, "+refs/heads/*:refs/heads/*")
		if err == nil {
			b.follow(ctx, repo, path)
		}
		return err
	}
	half := path + ".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if _, err := b.git(ctx, b.mirrors.dir, nil, "clone", "--quiet", "--bare", "--no-hardlinks", "--template=", "--", repo, half); err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return os.Rename(half, path)
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

// follow has the mirror's HEAD be the branch that the repository's is; where that is not told, it
// stays.
func (b *Batch) follow(ctx context.Context, repo, path string) {
	out, err := b.git(ctx, path, nil, "ls-remote", "--symref", "--", repo, "HEAD")
	if ref, _, ok := strings.Cut(strings.TrimPrefix(out, "ref: "), "\t"); err == nil && ok && strings.HasPrefix(ref, "refs/heads/") {
		_, _ = b.git(ctx, path, nil, "symbolic-ref", "HEAD", ref)
	}
}

// fetched is the name under which a mirror keeps a ref that no branch or tag leads to. Batches that
// run at the same time have the same mirror and may have the same names of tasks, so that the name
// says what it is, and not whose.
func fetched(t Task) string {
	sum := sha256.Sum256([]byte(t.Ref))
	return "refs/adze/" + hex.EncodeToString(sum[:10])
}

// fetchRef gets such a ref, while nobody else fetches into the mirror.
func (b *Batch) fetchRef(ctx context.Context, t Task, mirror string) error {
	unlock, err := waitFile(ctx, mirror+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if err := unlockRefs(mirror); err != nil {
		return err
	}
	_, err = b.git(ctx, mirror, nil, "fetch", "--quiet", "--", cmp.Or(t.Repo, t.Folder), "+"+t.Ref+":"+fetched(t))
	return err
}
