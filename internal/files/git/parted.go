package git

import (
	"context"
	"strings"
)

// Parted returns the commit at which the current branch left the main one, and the main one's name:
// origin's HEAD, else main or master. On the main branch itself it uses the upstream, or HEAD
// without one.
func (r *Repo) Parted(ctx context.Context) (commit, from string, err error) {
	head, _ := r.text(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	head = strings.TrimSpace(head)
	origin, _ := r.text(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
	for _, name := range []string{strings.TrimSpace(origin), "main", "master"} {
		if name == "" || name == head || strings.TrimPrefix(name, "origin/") == head && name != "origin/"+head {
			continue
		}
		base, err := r.text(ctx, "merge-base", "HEAD", name)
		if hash := strings.TrimSpace(base); err == nil && IsHash(hash) {
			return hash, name, nil
		}
	}
	commit, err = r.Resolve(ctx, "HEAD")
	return commit, "HEAD", err
}
