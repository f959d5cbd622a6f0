package git

import (
	"context"
	"slices"
	"strings"
)

// Merging is a preview of merging a branch into HEAD.
type Merging struct {
	Commits   int      // commits to merge; 0 if HEAD has them all
	Forward   bool     // the branch contains HEAD
	Files     []string // changed on the branch since the merge base, relative to Repo.Top
	Conflicts []string
}

// Merging previews the merge of a local branch without changing files. Before 2.38, git does not
// report conflicts.
func (r *Repo) Merging(ctx context.Context, branch string) (m Merging, err error) {
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return m, err
	}
	at, err := r.Branch(ctx, branch)
	if err != nil {
		return m, err
	}
	if at == "" {
		return m, fail(CodeNotFound, ErrRevision, "there is no branch %s", branch)
	}
	err = r.records(ctx, func(string) { m.Commits++ }, "log", "-z", "--format=%H", head+".."+at)
	if err != nil || m.Commits == 0 {
		return m, err
	}
	base, err := r.text(ctx, "merge-base", head, at)
	if err != nil {
		return m, fail(CodeInvalid, err, "%s has no commit in common with what is checked out", branch)
	}
	base = strings.TrimSpace(base)
	m.Forward = base == head
	err = r.records(ctx, func(name string) { m.Files = append(m.Files, name) }, "diff", "--name-only", "--no-renames", "-z", base, at)
	if err == nil && !m.Forward {
		m.Conflicts, err = r.conflicts(ctx, head, at)
	}
	return m, err
}

// conflicts returns the files with conflicting changes. If git cannot compute them, it returns
// none; the merge itself will find them.
func (r *Repo) conflicts(ctx context.Context, ours, theirs string) (names []string, err error) {
	tree := ""
	s := splitter{emit: func(record string) {
		switch {
		case tree == "":
			tree = record
		case !slices.Contains(names, record):
			names = append(names, record)
		}
	}}
	_, _ = r.run(ctx, call{args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs}, stream: s.write}) // exits with 1 if there are conflicts
	return names, ctx.Err()
}
