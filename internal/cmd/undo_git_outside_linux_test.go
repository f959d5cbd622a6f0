package cmd_test

import (
	"path/filepath"
	"testing"
)

// gitElsewhere are folders of which git keeps the state elsewhere: how they are made, and where
// they are.
func gitElsewhere() map[string][2]string {
	module := "git init -q ../sub; (cd ../sub; echo s > s; git add s; git commit -qm s; echo t > s; git commit -qam t); git -c protocol.file.allow=always submodule --quiet add \"$PWD/../sub\" lib/sub; git commit -qm sub"
	return map[string][2]string{
		"a linked work tree":      {"git worktree add -q ../tree -b own", "../tree"},
		"a work tree inside":      {"git worktree add -q inside -b own", "inside"},
		"a folder of a work tree": {"git worktree add -q ../tree -b own", "../tree/src"},
		"a separate folder":       {"git init -q --separate-git-dir ../apart .", "."},
		"a subfolder":             {"", "src"},
		"a submodule":             {module, "lib/sub"},
		"beside a bare one":       {"git clone -q --bare . ../bare/.bare; git -C ../bare/.bare worktree add -q ../tree -b own", "../bare/tree"},
	}
}

// Git's own state that lies elsewhere is not covered, which is told, and stays as it is.
func TestGitThatIsElsewhereStays(t *testing.T) {
	for name, where := range gitElsewhere() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := repository(t)
			u.sh(where[0])
			u.dir = filepath.Join(u.dir, where[1])
			u.sh("git config user.name a; git config user.email a@b; echo m > mine; git add mine; git commit -qm mine; git branch side HEAD~1; echo dirty >> mine; echo u > untracked")
			u.work("-- 1 --\n" + bash("echo n > n; git add n; git commit -qm n; git checkout -q -b fresh; git commit -q --allow-empty -m more; git branch -D side; git branch kept HEAD~1; git rm -q --cached mine") + "-- 2 --\ntext: done\n")
			u.undo("--git").wants(7, "remove   n", "undo covers git's own state only where .git stands in this folder")
			u.sh("git fsck 2>&1; [ \"$(git log -1 --format=%s)\" = more ]; [ ! -e n ]")
		})
	}
}

// The objects of git are not covered, so that a repository that a turn made stays as a whole.
func TestARepositoryThatATurnMadeStays(t *testing.T) {
	u := repository(t)
	u.work("-- 1 --\n" + bash("echo n > n; git init -q inner; cd inner; git config user.name a; git config user.email a@b; echo x > x; git add x; git commit -qm one") + "-- 2 --\ntext: done\n")
	u.undo("--git").wants(7, "remove   n", "inner/.git/HEAD: git's own state belongs together, and some of it stays")
	u.sh("cd inner; git fsck --strict 2>&1; git log --oneline; git status")
}

// A commit of the user after a turn stays, whether they made it in another terminal or here, and
// the files of the turn are put back.
func TestUndoAfterACommitOfTheUser(t *testing.T) {
	for name, here := range map[string]bool{"in another terminal": false, "in the session": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := repository(t)
			before := u.shape()
			u.work("-- 1 --\n" + bash("echo n > n; echo more >> src/a.go") + "-- 2 --\ntext: done\n")
			commit := "git add -A; git -c user.name=a -c user.email=a@b commit -qm mine"
			if here {
				u.goOn("-- 1 --\n" + bash(commit) + "-- 2 --\ntext: done\n")
			} else {
				u.sh(commit)
			}
			u.undo("--dry-run").wants(0, "turn 1: work", "remove   n", "restore  src/a.go")
			u.undo().wants(0, "undone: turn 1: work", "remove   n")
			u.wantTree("undone", before)
			u.sh("[ \"$(git log -1 --format=%s)\" = mine ]; git fsck")
			if here {
				u.undo("--git").wants(0, "undone: turn 2: go on", ".git/refs/heads/main")
				u.sh("[ \"$(git log -1 --format=%s)\" = two ]; git fsck")
			}
		})
	}
}
