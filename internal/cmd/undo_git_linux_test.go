package cmd_test

import (
	"os/exec"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// gitState is what git says of each repository in the user's folder: HEAD, refs, index, stash and a
// merge that is under way.
func (u *user) gitState() string {
	u.t.Helper()
	cmd := exec.Command("bash", "-c", `for g in $(find . -name .git | sort); do cd "$OLD$(dirname $g)" 2>/dev/null || continue; echo "== $g"
git symbolic-ref -q HEAD; git rev-parse -q --verify HEAD; git for-each-ref; git ls-files --stage; git stash list; git status --porcelain=v2 --ignore-submodules=none
cat $(git rev-parse --git-dir)/MERGE_HEAD 2>/dev/null; cd "$TOP"; done`)
	cmd.Dir = u.dir
	cmd.Env = append(u.env, "GIT_CONFIG_GLOBAL=/dev/null", "TOP="+u.dir)
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		u.t.Fatal(err)
	}
	return string(out)
}

// TestGitIsUndoneAndRedone compares refs, HEAD and index after each undo and redo, which are done
// twice.
func TestGitIsUndoneAndRedone(t *testing.T) {
	for name, c := range map[string][2]string{
		"branches": {"", "git checkout -qb new; echo n > n; git add n; git commit -qm n; git branch -D side; git branch more HEAD~1"},
		"tags":     {"git tag old", "git tag -d old; git tag -am annotated newer; git pack-refs --all"},
		"detached": {"", "git stash -q; git checkout -q --detach HEAD~1; echo d > d; git add d"},
		"merge":    {"", "git stash -qu; git merge side || true; git status"},
		"amend":    {"", "git commit -qa --amend -m amended; git reset -q --soft HEAD~1"},
		"submodule": {"git init -q ../sub; (cd ../sub; git config user.name a; git config user.email a@b; echo s > s; git add s; git commit -qm s); git -c protocol.file.allow=always submodule --quiet add \"$PWD/../sub\" lib/sub; git -C lib/sub config user.name a; git -C lib/sub config user.email a@b; git commit -qm sub",
			"cd lib/sub; echo t > t; git add t; git commit -qm t; cd ../..; git commit -qam 'move sub'"},
		"alternates":    {"git clone -q --bare . ../base; echo \"$PWD/../base/objects\" > .git/objects/info/alternates; git repack -adlq", "git commit -qa --amend -m amended; git branch -D side; git commit -q --allow-empty -m more; git gc -q"},
		"renamed refs":  {"", "git branch -m side side/deep/er; git branch -m main trunk; git update-ref refs/own/x HEAD"},
		"deeper to top": {"git branch -m side side/deep", "git branch -m side/deep side; git pack-refs --all"},
		"worktree":      {"git worktree add -q wt side", "cd wt; echo w > w; git add w; git commit -qm w; git checkout -q --detach"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "branches" && name != "worktree" {
				effort.Needs(t, effort.Short, "each takes a repository")
			}
			u := repository(t)
			u.sh("git config user.name a; git config user.email a@b; git checkout -q -b side HEAD~1 2>&1 || (git stash -qu && git checkout -qb side HEAD~1); printf 'package side\n' > src/a.go; git commit -qam side; git checkout -q main; git stash pop -q || true; " + c[0])
			before := u.gitState()
			u.work("-- 1 --\n" + bash(strings.ReplaceAll(c[1], `"`, `\"`)) + "-- 2 --\ntext: done\n")
			after := u.gitState()
			if before == after {
				t.Fatalf("nothing was done:\n%s", after)
			}
			for range 2 {
				u.undo("--git").wants(0)
				if got := u.gitState(); got != before {
					t.Fatalf("undone:\n%s\nwant\n%s", got, before)
				}
				u.sh("git fsck 2>&1")
				u.run("redo").wants(0)
				if got := u.gitState(); got != after {
					t.Fatalf("redone:\n%s\nwant\n%s", got, after)
				}
				u.sh("git fsck 2>&1")
			}
		})
	}
}

const expire = "git reflog expire --expire=now --all; git gc -q --prune=now"

// TestGitIsNotPutBackOntoObjectsThatAreGone has the real git drop the objects and look at the
// repository afterwards.
func TestGitIsNotPutBackOntoObjectsThatAreGone(t *testing.T) {
	for name, c := range map[string]struct{ before, turn, since, left string }{
		"a commit":        {"", "echo changed > src/deep/c; git commit -qa --amend -m amended; " + expire, "", ".git/logs/HEAD"},
		"a commit, since": {"", "echo changed > src/deep/c; git commit -qa --amend -m amended", expire, ".git/index"},
		"packed refs":     {"git pack-refs --all", "echo changed > src/deep/c; git commit -qa --amend -m amended; " + expire, "", ".git/packed-refs"},
		"a detached HEAD": {"git checkout -q --detach; git commit -q --allow-empty -m away", "echo changed > src/deep/c; git checkout -q main; " + expire, "", ".git/HEAD"},
		"an index":        {"git add new", "echo changed > src/deep/c; git reset -q; " + expire, "", ".git/index"},
		"a tag":           {"git tag -am t t", "echo changed > src/deep/c; git tag -d t; " + expire, "", ".git/refs/tags/t"},
		"a stash":         {"echo s > s; git stash -qu", "echo changed > src/deep/c; git stash drop -q; " + expire, "", ".git/refs/stash"},
		"an alternate": {"git clone -q --bare . ../base; echo \"$PWD/../base/objects\" > .git/objects/info/alternates; git repack -adlq",
			"echo changed > src/deep/c; git commit -qa --amend -m amended; " + expire + "; git repack -adq; rm .git/objects/info/alternates", "rm -rf ../base", ".git/index"},
		"all of git":       {"", "echo changed > src/deep/c; rm -rf .git", "", ".git/HEAD"},
		"all of it, anew":  {"", "echo changed > src/deep/c; rm -rf .git; git init -q; git add -A; git -c user.name=a -c user.email=a@b commit -qm anew", "", ".git/index"},
		"the end of depth": {"git clone -q --bare . ../up; git remote add up \"file://$PWD/../up\"", "echo changed > src/deep/c; git fetch -q --depth=1 up main; " + expire, "", ".git/shallow"},
		"a submodule": {"git init -q ../sub; (cd ../sub; git config user.name a; git config user.email a@b; echo s > s; git add s; git commit -qm s); git -c protocol.file.allow=always submodule --quiet add \"$PWD/../sub\" lib/sub; git -C lib/sub config user.name a; git -C lib/sub config user.email a@b; git commit -qm sub; cd lib/sub; git commit -q --allow-empty -m local",
			"echo changed > src/deep/c; cd lib/sub; git commit -q --allow-empty --amend -m amended; " + expire, "", ".git/modules/lib/sub/"},
		"a submodule's folder": {"git init -q ../sub; (cd ../sub; git config user.name a; git config user.email a@b; echo s > s; git add s; git commit -qm s); git -c protocol.file.allow=always submodule --quiet add \"$PWD/../sub\" lib/sub; git -C lib/sub config user.name a; git -C lib/sub config user.email a@b; git commit -qm sub",
			"echo changed > src/deep/c; git rm -qf lib/sub; rm -rf .git/modules/lib; git commit -qm gone", "", "lib/sub/.git"},
		"a work tree": {"git worktree add -q wt -b wt; cd wt; git commit -q --allow-empty -m there",
			"echo changed > src/deep/c; cd wt; git commit -q --allow-empty --amend -m amended; " + expire, "", ".git/"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "branches" && name != "worktree" {
				effort.Needs(t, effort.Short, "each takes a repository")
			}
			t.Parallel()
			u := repository(t)
			u.sh("git config user.name a; git config user.email a@b")
			if c.before != "" {
				u.sh("(" + c.before + ")")
			}
			u.work("-- 1 --\n" + bash(c.turn) + "-- 2 --\ntext: done\n")
			if c.since != "" {
				u.sh(c.since)
			}
			u.undo("--git", "--dry-run").wants(7, c.left)
			u.undo("--git").wants(7, "left as it is", c.left, "restore  src/deep/c")
			u.sh("[ ! -e .git ] || git fsck --no-dangling 2>&1")
			u.sh("[ ! -e .git ] || git log -1 --format=%H")
			u.sh("[ ! -e .git ] || git status; [ $(cat src/deep/c) = deep ]")
		})
	}
}

// TestABranchThatMovedSinceStaysWithItsIndex: git's own state of a repository comes back as a whole,
// or it stays as it is.
func TestABranchThatMovedSinceStaysWithItsIndex(t *testing.T) {
	u := repository(t)
	u.sh("git config user.name a; git config user.email a@b; git add -A; git commit -qm all; git branch side; git branch other")
	u.work("-- 1 --\n" + bash("echo changed > src/deep/c; git commit -qam turn; git branch -f side HEAD; git branch -f other HEAD") + "-- 2 --\ntext: done\n")
	u.sh("git commit -q --allow-empty -m mine; git branch -f side HEAD")
	u.undo("--git").wants(7, ".git/refs/heads/main", ".git/refs/heads/side", ".git/index", "restore  src/deep/c")
	u.sh("git fsck --no-dangling 2>&1; [ $(git log -1 --format=%s) = mine ]; [ $(git rev-parse side) = $(git rev-parse main) ]")
	u.sh("git diff --cached --quiet || exit 9; [ $(git rev-parse other) = $(git rev-parse main~1) ]; [ $(cat src/deep/c) = deep ]")
}
