package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/git"
	"adze/internal/text/plural"
	"adze/internal/text/usage"
)

// A Merge is a planned merge of a work tree's branch into the main checkout.
type Merge struct {
	Name        string   `json:"worktree"`
	Path        string   `json:"path"` // the work tree's
	Main        string   `json:"main"` // main checkout
	Branch      string   `json:"branch"`
	Target      string   `json:"into"` // branch checked out there
	Commits     int      `json:"commits"`
	Files       []string `json:"files"`       // changed by the merge
	Uncommitted int      `json:"uncommitted"` // uncommitted files in the work tree, which are not merged
	Mine        bool     `json:"made_by_adze"`
}

// someNames limits the files that a sentence names.
const someNames = 5

func named(files []string) string {
	text := strings.Join(files[:min(len(files), someNames)], ", ")
	if more := len(files) - someNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// PlanMerge plans the merge of dir's work tree branch into the main checkout. Its error explains
// why the merge is impossible and the next step. It changes no file.
func (d Manager) PlanMerge(ctx context.Context, dir string) (m Merge, err error) {
	r, err := d.open(ctx, dir)
	if err != nil {
		return m, err
	}
	t := Tree{Name: r.Top, Path: r.Top}
	if path, rec, known := find(d.State, r.Top); known {
		t = Tree{Name: rec.Name, Path: r.Top, Mine: true, Interrupted: !rec.Ready, record: rec, slug: strings.TrimSuffix(filepath.Base(path), recordEnd)}
	}
	r.look(ctx, &t)
	m = Merge{Name: t.Name, Path: t.Path, Main: r.main, Branch: t.Branch, Uncommitted: t.Uncommitted, Mine: t.Mine}
	switch {
	case r.list[0].Bare:
		return m, usage.Mistake("check a branch out somewhere and merge there with git", "%s is a bare repository, with nothing checked out to merge into", r.list[0].Path)
	case r.Top == r.main:
		return m, usage.Mistake("commit what is to stay; there is nothing to merge", "the session works in the main checkout %s, not in a work tree with a branch of its own", r.main)
	case t.Unknown != "":
		return m, usage.Mistake("look there with git status", "the work tree %s: %s", r.Top, t.Unknown)
	case m.Branch == "":
		return m, usage.Mistake("make a branch there: git -C "+r.Top+" switch -c NAME", "no branch is checked out in the work tree %s", r.Top)
	}
	main, err := d.Git.Open(ctx, r.main)
	if err != nil {
		return m, err
	}
	there, err := main.Status(ctx, ".", git.UntrackedAll, mostLooked)
	if err != nil {
		return m, err
	}
	m.Target = there.Branch
	switch {
	case m.Target == "":
		return m, usage.Mistake("check a branch out there: git -C "+m.Main+" switch BRANCH", "no branch is checked out in the main checkout %s", m.Main)
	case there.Operation != "":
		return m, usage.Mistake("finish or abort that there, then merge", "%s: %s", m.Main, there.Operation)
	}
	joined, err := main.Merging(ctx, m.Branch)
	if err != nil {
		return m, err
	}
	m.Commits, m.Files = joined.Commits, joined.Files
	return m, m.refused(there, joined)
}

// mostLooked limits the changes examined per kind in the main checkout.
const mostLooked = 100_000

// refused returns an error if the merge must not be made.
func (m Merge) refused(there git.Status, joined git.Merging) error {
	if m.Commits == 0 && m.Uncommitted > 0 {
		return usage.Mistake("commit them there: in the session's net changes (F3) I stages all and c commits", "the branch %s has no commit of its own yet, and %s not committed", m.Branch, isOrAre(m.Uncommitted))
	}
	if m.Commits == 0 {
		return usage.Mistake("adze worktree remove "+m.Name+" removes the work tree", "all of the branch %s is in %s already", m.Branch, m.Target)
	}
	if len(joined.Conflicts) > 0 {
		return usage.Mistake(fmt.Sprintf("in the work tree %s: git merge %s, resolve and commit there, then merge again", m.Path, m.Target),
			"%s and %s conflict in %s; nothing was merged", m.Target, m.Branch, named(joined.Conflicts))
	}
	var same []string
	for _, g := range []git.Group{there.Staged, there.Changed, there.Conflicts, there.Untracked} {
		for _, e := range g.Entries {
			if !slices.Contains(same, e.Path) && (slices.Contains(m.Files, e.Path) || slices.Contains(m.Files, e.OldName)) {
				same = append(same, e.Path)
			}
		}
	}
	if len(same) > 0 {
		return usage.Mistake("commit them there, or put them aside: git -C "+m.Main+" stash -u", "the main checkout %s has changes of its own in %s, which the merge changes, too; nothing was merged", m.Main, named(same))
	}
	if !joined.Forward && there.Staged.Total > 0 {
		return usage.Mistake("commit that there, or unstage it: git -C "+m.Main+" restore --staged .", "the index of the main checkout %s is not empty, and git merges only into an empty one; nothing was merged", m.Main)
	}
	return nil
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return fmt.Sprintf("%d files are", n)
}

// String describes the plan in a sentence.
func (m Merge) String() string {
	text := fmt.Sprintf("merge %s of %s into %s (%s), which changes %s: %s", plural.Of(m.Commits, "commit"), m.Branch, m.Target, m.Main, plural.Of(len(m.Files), "file"), named(m.Files))
	if m.Uncommitted > 0 {
		text += fmt.Sprintf("; %s not committed and not merged", isOrAre(m.Uncommitted))
	}
	return text
}

// Command returns a shell command that merges with the user's own git, its hooks and signatures. A
// merge that git cannot finish is aborted; a merge begun by someone else is left alone.
func (m Merge) Command() string {
	begun := "git rev-parse -q --verify MERGE_HEAD >/dev/null"
	return "cd " + quoted(m.Main) + " && if " + begun + "; then echo 'a merge is going on there' >&2; exit 1; fi && " +
		"{ git merge --no-edit " + quoted(m.Branch) + " || { " + begun + " && git merge --abort; echo 'nothing was merged' >&2; exit 1; }; }"
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Merged reports whether the main checkout contains the whole branch.
func (d Manager) Merged(ctx context.Context, m Merge) (bool, error) {
	main, err := d.Git.Open(ctx, m.Main)
	if err != nil {
		return false, err
	}
	joined, err := main.Merging(ctx, m.Branch)
	return err == nil && joined.Commits == 0, err
}
