package git

import (
	"context"
	"strings"
)

// unknown reports that a path is neither in the index nor in one of the commits that were compared,
// given as the arguments of git diff.
func (r *Repo) unknown(ctx context.Context, path string, sides []string) (bool, error) {
	found := false
	see := func(string) { found = true }
	err := r.records(ctx, see, "ls-files", "-z", "--cached", "--", path)
	for _, side := range append(sides, "HEAD") {
		for rev := range strings.SplitSeq(side, "...") {
			if found || err != nil {
				return false, err
			}
			if strings.HasPrefix(rev, "-") || rev == "HEAD" && !r.born(ctx) {
				continue
			}
			err = r.records(ctx, see, "ls-tree", "-z", "--name-only", rev, "--", path)
		}
	}
	return !found, err
}

// born reports that there is a commit.
func (r *Repo) born(ctx context.Context) bool {
	_, err := r.Resolve(ctx, "HEAD")
	return err == nil
}
