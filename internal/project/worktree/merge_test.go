package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/text/usage"
)

// merge plans and makes a merge of the work tree that dir lies in. It returns what the user is told.
func (b *bench) merge(dir string) (m Merge, said string) {
	b.Helper()
	m, err := b.desk.PlanMerge(b.Context(), dir)
	if mistake := (*usage.Error)(nil); errors.As(err, &mistake) {
		return m, mistake.Error() + "\n" + mistake.Hint
	}
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), "sh", "-c", m.Command())
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return m, "failed: " + string(out)
	}
	return m, ""
}

func TestMerge(t *testing.T) {
	const commit = "echo 2 >> a && git commit -qam two"
	for name, c := range map[string]struct {
		here, there string // scripts in the work tree and in the main checkout
		says        string // why it is not merged; if empty, it is
		fails       bool   // it is git that finds out
	}{
		"forward":                   {here: commit},
		"both went on":              {here: commit, there: "echo 3 >> sub/b && git commit -qam three"},
		"other files are changed":   {here: commit, there: "echo 3 >> sub/b && echo new > new"},
		"the same file is changed":  {here: commit, there: "echo 3 >> a", says: "changes of its own in a, which the merge changes, too"},
		"the same file is staged":   {here: commit, there: "echo 3 >> a && git add a", says: "changes of its own in a"},
		"a new file is in the way":  {here: "echo 2 > new && git add new && git commit -qm new", there: "echo 3 > new", says: "changes of its own in new"},
		"another file is staged":    {here: commit, there: "echo 3 >> sub/b && git commit -qam three && echo 4 > new && git add new", says: "the index of the main checkout"},
		"a conflict":                {here: commit, there: "echo 3 >> a && git commit -qam three", says: "conflict in a; nothing was merged"},
		"a renamed folder":          {here: "echo 1 > sub/c && git add . && git commit -qm c", there: "git mv sub dir && git commit -qm move", says: "conflict in dir/c; nothing was merged"},
		"nothing is committed":      {here: "echo 2 >> a && echo > c", says: "2 files are not committed"},
		"some is not committed":     {here: commit + " && echo 3 >> a"},
		"nothing was done":          {says: "all of the branch x is in main already"},
		"no branch there":           {here: commit, there: "git checkout -q --detach", says: "no branch is checked out in the main checkout"},
		"no branch here":            {here: commit + " && git checkout -q --detach", says: "no branch is checked out in the work tree"},
		"a merge is going on there": {here: commit, there: "git checkout -qb y && echo 5 >> sub/b && git commit -qam five && git checkout -q main && git merge -q --no-ff --no-commit y", says: "merge"},
		"a hook refuses":            {here: commit, there: "echo 3 >> sub/b && git commit -qam three && printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit", says: "nothing was merged", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			made := b.make("x")
			defer made.Release()
			if c.there != "" {
				b.sh(b.main, c.there)
			}
			if c.here != "" {
				b.sh(made.Dir, c.here)
			}
			state := "git status --porcelain && git rev-parse HEAD && git stash list && cat a"
			before, mine := b.sh(b.main, state), b.sh(made.Dir, state)
			m, said := b.merge(made.Dir)
			if !strings.Contains(said, c.says) || c.fails != strings.HasPrefix(said, "failed: ") || (said == "") != (c.says == "") {
				t.Fatalf("it says %q, of %+v", said, m)
			}
			if b.sh(made.Dir, state) != mine {
				t.Error("the work tree is another one")
			}
			if merged, err := b.desk.Merged(t.Context(), m); c.says == "" && (!merged || err != nil) {
				t.Errorf("merged: %v, %v", merged, err)
			}
			if after := b.sh(b.main, state); c.says != "" && after != before {
				t.Errorf("the main checkout is %s, was %s", after, before)
			}
			if c.says == "" && (m.Commits != 1 || len(m.Files) != 1 || !strings.Contains(m.String(), "1 commit of x into main")) {
				t.Errorf("%+v: %s", m, m)
			}
		})
	}
}

// TestAMergedWorkTreeIsRemoved: it loses nothing any more, unless files in it are not committed.
func TestAMergedWorkTreeIsRemoved(t *testing.T) {
	b := newBench(t)
	made := b.make("x")
	made.Release()
	b.sh(made.Dir, "echo 2 >> a && git commit -qam two && echo > left")
	if _, said := b.merge(filepath.Join(made.Dir, "sub")); said != "" {
		t.Fatal(said)
	}
	if r, err := b.desk.Remove(t.Context(), b.main, "x", RemoveOptions{}); err != nil || r.Removed || !strings.Contains(r.Reason, "1 file that is not committed") {
		t.Errorf("%+v, %v", r, err)
	}
	b.sh(made.Dir, "rm left")
	if r, err := b.desk.Remove(t.Context(), b.main, "x", RemoveOptions{}); err != nil || !r.Removed {
		t.Errorf("%+v, %v", r, err)
	}
	if got := b.sh(b.main, "git branch --list x; cat a"); got != "a\n2" {
		t.Errorf("%q", got)
	}
}

// TestAMainCheckoutHasNothingToMerge: a session that works in it says so.
func TestAMainCheckoutHasNothingToMerge(t *testing.T) {
	b := newBench(t)
	if _, said := b.merge(b.main); !strings.Contains(said, "not in a work tree") {
		t.Error(said)
	}
}
