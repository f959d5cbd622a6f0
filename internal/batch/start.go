package batch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
)

// start is where work begins in a repository.
type start struct {
	base   string // the commit
	branch string // which is checked out; empty: none
}

// start finds where a task begins; at is the commit, where it is known. Of a mirror, which is
// fetched once a batch, it is found once for all tasks that name the same ref.
func (b *Batch) start(ctx context.Context, t Task, from, at string) (s start, err error) {
	shared := at == "" && filepath.Dir(from) == filepath.Clean(b.mirrors.dir)
	key := from + "\x00" + t.Ref
	if shared {
		b.mirrors.mu.Lock()
		s, known := b.mirrors.starts[key]
		b.mirrors.mu.Unlock()
		if known {
			return s, nil
		}
	}
	if s.base, err = b.resolve(ctx, t, from, at); err != nil {
		return s, err
	}
	if name, err := b.git(ctx, from, nil, "rev-parse", "--symbolic-full-name", cmp.Or(t.Ref, "HEAD")); err == nil && strings.HasPrefix(name, "refs/heads/") {
		s.branch = strings.TrimPrefix(name, "refs/heads/")
	}
	if shared {
		b.mirrors.mu.Lock()
		defer b.mirrors.mu.Unlock()
		if b.mirrors.starts == nil {
			b.mirrors.starts = map[string]start{}
		}
		b.mirrors.starts[key] = s
	}
	return s, nil
}

// comesFrom has a clone name the repository that its mirror is of as where it comes from. Nobody
// has worked in the clone yet, so that the line is where git has just written it; where it is not,
// git is asked.
func (b *Batch) comesFrom(ctx context.Context, clone, mirror, repo string) error {
	path := filepath.Join(clone, ".git", "config")
	raw, err := os.ReadFile(path)
	line := "\n\turl = " + mirror + "\n"
	if err != nil || strings.Count(string(raw), line) != 1 || strings.ContainsAny(repo, "\x00\r\n") {
		_, err := b.git(ctx, clone, nil, "remote", "set-url", "origin", repo)
		return err
	}
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\b", `\b`).Replace(repo) + `"` // git-config(1), "Syntax"
	return os.WriteFile(path, []byte(strings.Replace(string(raw), line, "\n\turl = "+quoted+"\n", 1)), 0o600)
}
