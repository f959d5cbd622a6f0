package cmd_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// headState is what git says in the user's folder: HEAD, its branch, all refs and the index.
func (u *user) headState() string {
	u.t.Helper()
	cmd := exec.Command("bash", "-ec", "git symbolic-ref -q HEAD || echo detached; git rev-parse HEAD; git for-each-ref; git ls-files --stage; git stash list; git status --porcelain=v2")
	cmd.Dir = u.dir
	cmd.Env = append(u.env, "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

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

func TestGitThatIsElsewhereIsUndoneAndRedone(t *testing.T) {
	for name, where := range gitElsewhere() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := repository(t)
			u.sh(where[0])
			u.dir = filepath.Join(u.dir, where[1])
			u.sh("git config user.name a; git config user.email a@b; echo m > mine; git add mine; git commit -qm mine; git branch side HEAD~1; echo dirty >> mine; echo u > untracked")
			before := u.headState()
			u.work("-- 1 --\n" + bash("echo n > n; git add n; git commit -qm n; git checkout -q -b fresh; git commit -q --allow-empty -m more; git branch -D side; git branch kept HEAD~1; git rm -q --cached mine") + "-- 2 --\ntext: done\n")
			after := u.headState()
			for range 2 {
				u.undo("--git").wants(0, "/HEAD")
				if got := u.headState(); got != before {
					t.Fatalf("undone:\n%s\nwant\n%s", got, before)
				}
				u.sh("git fsck 2>&1")
				u.run("redo").wants(0)
				if got := u.headState(); got != after {
					t.Fatalf("redone:\n%s\nwant\n%s", got, after)
				}
			}
		})
	}
}

// In a session that works in a work tree of its own, and in the sandbox where there is one.
func TestGitOfAWorkTreeSessionIsUndone(t *testing.T) {
	u := repository(t)
	u.sh("git config user.name a; git config user.email a@b")
	steps := "-- 1 --\n" + bash("echo n > n; git add n; git commit -qm n; git branch kept") + "-- 2 --\ntext: done\n"
	main := u.headState()
	u.run("-p", "-w", "fix", "--permission-mode=yolo", u.script(steps), "work").wants(0)
	u.dir += "-fix"
	after := u.headState()
	u.undo("--git").wants(0, "remove   n", "refs/heads/fix")
	if got := u.headState(); got == after || strings.Contains(got, "refs/heads/kept") || strings.Contains(got, " n\n") {
		t.Errorf("undone:\n%s", got)
	}
	u.dir = strings.TrimSuffix(u.dir, "-fix")
	u.sh("git branch -q -D fix 2>&1 || :")
	if got := u.headState(); !strings.Contains(got, strings.SplitN(main, "\n", 3)[1]) {
		t.Errorf("the main checkout:\n%s\nwas\n%s", got, main)
	}
}

// What other work trees stand on stays as it is, and is named.
func TestUndoLeavesTheBranchOfAnotherWorkTree(t *testing.T) {
	u := repository(t)
	u.sh("git config user.name a; git config user.email a@b; git worktree add -q ../tree -b own")
	u.dir = filepath.Join(u.dir, "../tree")
	u.work("-- 1 --\n" + bash("git commit -q --allow-empty -m mine; git update-ref refs/heads/main HEAD; git pack-refs --all") + "-- 2 --\ntext: done\n")
	main := u.headState()
	u.undo("--git").wants(7, "refs/heads/main", "other work trees of the repository use it, too", "packed-refs")
	if got := u.headState(); got == main || !strings.Contains(got, "commit\trefs/heads/main") {
		t.Errorf("%s\nbefore the undo\n%s", got, main)
	}
	u.sh("git fsck 2>&1; git log -1 main")
}

// A repository that a turn made goes as a whole and comes back as a whole.
func TestARepositoryThatATurnMadeGoesWhole(t *testing.T) {
	commits := "git config user.name a; git config user.email a@b; echo x > x; git add x; git commit -qm one; echo y >> x; git commit -qam two; git branch side HEAD~1"
	for name, c := range map[string]struct{ turn, since, refused string }{
		"made":               {"git init -q inner; cd inner; " + commits, "", ""},
		"cloned":             {"git clone -q . inner", "", ""},
		"made and packed":    {"git init -q inner; cd inner; " + commits + "; git gc -q", "", ""},
		"a commit since":     {"git init -q inner; cd inner; " + commits, "cd inner; git commit -q --allow-empty -m since", "inner/.git: the repository holds what is not undone"},
		"a branch since":     {"git init -q inner; cd inner; " + commits, "cd inner; git checkout -q -b since", "inner/.git: the repository holds what is not undone"},
		"a new branch since": {"git init -q inner; cd inner; " + commits, "cd inner; git branch since", "inner/.git: the repository holds what is not undone"},
		"moved":              {"mv has moved", "", "moved/.git: the repository holds what is not undone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := repository(t)
			u.sh("git init -q has; cd has; " + commits)
			before := u.shape()
			u.work("-- 1 --\n" + bash(c.turn) + "-- 2 --\ntext: done\n")
			after := u.shape()
			if c.since != "" {
				u.sh(c.since)
			}
			if c.refused != "" {
				u.undo("--git").wants(7, c.refused)
				u.sh("cd inner 2>/dev/null || cd moved; git fsck --strict 2>&1; git status; git log --oneline")
				return
			}
			for range 2 {
				u.undo("--git").wants(0)
				u.wantTree("undone", before)
				u.sh("[ ! -e inner ]")
				u.run("redo").wants(0)
				u.wantTree("redone", after)
				u.sh("cd inner; git fsck --strict 2>&1; git status; git log --oneline; git diff --exit-code HEAD")
			}
		})
	}
}

// What a later turn adds to such a repository goes alone, and no object that something needs.
func TestATurnInARepositoryThatATurnMadeIsUndone(t *testing.T) {
	u := repository(t)
	u.work("-- 1 --\n" + bash("git init -q inner; cd inner; git config user.name a; git config user.email a@b; echo x > x; git add x; git commit -qm one") + "-- 2 --\ntext: done\n")
	top := u.dir
	u.dir = filepath.Join(top, "inner")
	before := u.headState()
	u.dir = top
	u.goOn("-- 1 --\n" + bash("cd inner; echo y > y; git add y; git commit -qm two") + "-- 2 --\ntext: done\n")
	u.undo("--git").wants(0, "restore  inner/.git/refs/heads/")
	u.dir = filepath.Join(top, "inner")
	if got := u.headState(); got != before {
		t.Errorf("undone:\n%s\nwant\n%s", got, before)
	}
	u.sh("echo y > z; git add z; git commit -qm since; git fsck --strict 2>&1")
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
