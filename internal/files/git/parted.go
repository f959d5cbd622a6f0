package git

import (
	"context"
	"strings"
)

// Parted finds the commit at which the branch that is checked out parted from the main one, and the
// name of that: the one that origin says is its HEAD, else main or master. On the main branch
// itself it is what its upstream has, and without one, HEAD.
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
