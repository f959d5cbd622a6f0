package git

import (
	"context"
	"slices"
	"strings"
)

// Merging is what a merge of a branch into what is checked out would come to.
type Merging struct {
	Commits   int      // that the merge brings; if 0, all of it is there
	Forward   bool     // the branch has all commits that are checked out
	Files     []string // that the branch changed since the two parted, from the top of the work tree
	Conflicts []string // files that both changed in ways that git cannot join
}

// Merging looks what a merge of a local branch would come to. No file is changed. A git older than
// 2.38 cannot say which files conflict.
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

// conflicts are the files that two commits change in ways that cannot be joined. Where git cannot
// say it, there are none: the merge itself finds them.
func (r *Repo) conflicts(ctx context.Context, ours, theirs string) (names []string, err error) {
	tree := ""
	s := splitter{each: func(record string) {
		switch {
		case tree == "":
			tree = record
		case !slices.Contains(names, record):
			names = append(names, record)
		}
	}}
	_, _ = r.run(ctx, call{args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs}, stream: s.write}) // it exits with 1 where there are some
	return names, ctx.Err()
}
