package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkedIn makes a git repository of the user's folder, with a.txt in it, and returns git there.
func (u *user) checkedIn() (git func(dir string, args ...string) string) {
	u.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		u.t.Skip("git is not installed")
	}
	git = func(dir string, args ...string) string {
		u.t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			u.t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.WriteFile(filepath.Join(u.dir, "a.txt"), []byte("first\n"+strings.Repeat("same\n", 10)+"last\n"), 0o644); err != nil {
		u.t.Fatal(err)
	}
	git(u.dir, "init", "-q", "-b", "main")
	git(u.dir, "config", "user.name", "ann")
	git(u.dir, "config", "user.email", "ann@example.com")
	git(u.dir, "add", ".")
	git(u.dir, "commit", "-qm", "Begin")
	return git
}

// asksAndShouts are two sessions in the background: one asks whether it may write made.txt, the
// other one has changed two places of a.txt in a work tree of its own, and is done.
func (u *user) asksAndShouts() (asks, shouts, tree string, model string) {
	u.t.Helper()
	models := u.scripts("-- 1 --\ntext: I write it down.\ncall write: {\"path\":\"made.txt\",\"content\":\"one\"}\n-- 2 --\ntext: It is written down.\n",
		"-- 1 --\ncall read: {\"path\":\"a.txt\"}\n-- 2 --\ncall edit: {\"path\":\"a.txt\",\"old_string\":\"first\",\"new_string\":\"FIRST\"}\n"+
			"call edit: {\"path\":\"a.txt\",\"old_string\":\"last\",\"new_string\":\"LAST\"}\n-- 3 --\ntext: It is louder.\n")
	asks = strings.TrimSpace(u.run("--background", "--permission-mode=ask", "--model="+models[0], "make the file").wants(0).out)
	u.t.Cleanup(func() { u.run("stop", asks) })
	shouts = strings.TrimSpace(u.run("--background", "--permission-mode=yolo", "--model="+models[1], "shout").wants(0).out)
	tree = u.dir + "-background-" + shouts
	waitFor(u.t, "the second session is done", func() bool {
		return strings.Contains(u.run("sessions", "--json", "--all").out, `"state":"to review"`)
	})
	return asks, shouts, tree, strings.TrimPrefix(models[1], "script/")
}

// TestTheOverviewReviewsMergesAndCommits: two sessions in the background; the question of one is
// answered, and of the other one hunk is kept and one reverted, the rest committed, merged, and its
// work tree removed, all from the overview.
func TestTheOverviewReviewsMergesAndCommits(t *testing.T) {
	u := newUser(t)
	git := u.checkedIn()
	p := u.openPane(100, 40)
	_, shouts, tree, model := u.asksAndShouts()
	p.begin("sessions")
	p.sees("Sessions  1 waiting for you", "needs you ──", "▸? make the file", "to review ──", "shout")
	p.keys("Space")
	p.sees("I write it down.", "y: allow once")
	p.text("y")
	p.sees("allowed once", "✓ make the file")
	u.holds("made.txt", "one")
	p.keys("Escape")
	p.until("the look is closed", func() bool { return !strings.Contains(p.screen(), "a look into it") })
	p.text("/")
	p.text("shout")
	p.keys("Enter")
	p.sees("▸✓ shout", "v: review · m: merge")

	p.text("m")
	p.sees("has no commit of its own yet, and 1 file is not")
	p.keys("Escape")
	p.sees("v: review · m: merge")
	if err := os.WriteFile(model, []byte("# a test\n-- 1 --\nexpect prompt: FIRST\ntext: Say it louder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.text("v")
	p.sees("net changes · 1 file", "+FIRST", "+LAST", "a: keep")
	p.rests()
	p.text("a")
	p.sees("kept")
	p.text("r")
	p.sees("Edit this file?", "+last", "y once")
	p.text("y")
	p.until("the second hunk is taken back", func() bool { return strings.HasSuffix(fileText(filepath.Join(tree, "a.txt")), "last\n") })
	idle := func() { p.until("the call has ended", func() bool { return !strings.Contains(p.screen(), "●") }) }
	idle()
	p.until("the pane shows that", func() bool { return !strings.Contains(p.screen(), "+LAST") })
	p.text("I")
	p.until("the first hunk is in the index", func() bool { return strings.Contains(git(tree, "diff", "--cached"), "+FIRST") })
	idle()
	p.text("c")
	p.sees("/commit Say it louder", "commits what is staged")
	p.text(" now")
	p.keys("Enter")
	p.until("the commit is made", func() bool { return git(tree, "log", "-1", "--format=%s") == "Say it louder now" })
	idle()
	p.keys("Left")
	p.sees("Sessions", "▸✓ shout")

	p.text("m")
	p.sees("merge 1 commit of background-", "into main", "a.txt", "y: merge")
	if git(u.dir, "log", "-1", "--format=%s") != "Begin" {
		t.Fatal("it is merged before the user said so")
	}
	p.text("y")
	p.sees("remove the work tree background-", "y: remove it")
	u.holds("a.txt", "FIRST\n"+strings.Repeat("same\n", 10)+"last\n")
	p.text("y")
	p.sees("removed the work tree")
	if _, err := os.Lstat(tree); !os.IsNotExist(err) {
		t.Errorf("the work tree is there: %v", err)
	}
	if got := git(u.dir, "log", "-1", "--format=%s", "main") + "|" + git(u.dir, "branch", "--list", "background-*"); got != "Say it louder now|" {
		t.Errorf("%q", got)
	}
	p.until("nothing of it waits for a review", func() bool { return !strings.Contains(p.screen(), "✓ shout") })
	p.text("q")
	p.restored(0)
	u.run("audit", "show", shouts).wants(0, "git merge --no-edit")
	u.run("audit", "verify", "--all").wants(0, "all sound")
}

// TestASessionIsMergedByAScript: adze session merge says what it would do, refuses what it would
// have to leave half done, merges, and removes the work tree.
func TestASessionIsMergedByAScript(t *testing.T) {
	u := newUser(t)
	git := u.checkedIn()
	_, shouts, tree, _ := u.asksAndShouts()
	u.run("session", "merge", shouts).wants(2, "no commit of its own yet", "hint: commit them there")
	git(tree, "commit", "-qam", "Shout")
	u.run("session", "merge", shouts, "--dry-run").wants(0, "would merge 1 commit of background-"+shouts+" into main", "a.txt")
	if err := os.WriteFile(filepath.Join(u.dir, "a.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	u.run("session", "merge", shouts).wants(2, "has changes of its own in a.txt", "stash")
	u.holds("a.txt", "mine\n")
	git(u.dir, "commit", "-qam", "Mine")
	u.run("session", "merge", shouts).wants(2, "change the same lines of a.txt; nothing was merged", "git merge main, resolve")
	git(u.dir, "reset", "-q", "--hard", "HEAD~1")
	hook := filepath.Join(u.dir, ".git", "hooks", "post-merge")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch '"+u.home+"/hooked'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := u.run("session", "merge", shouts, "--remove", "--json").wants(0)
	if !strings.Contains(r.out, `"merged":true`) || !strings.Contains(r.out, `"removed":true`) {
		t.Errorf("%s", r.out)
	}
	if _, err := os.Stat(filepath.Join(u.home, "hooked")); err != nil {
		t.Errorf("the user's hook did not run: %v", err)
	}
	u.holds("a.txt", "FIRST\n"+strings.Repeat("same\n", 10)+"LAST\n")
	u.run("session", "merge", shouts).wants(2)
	u.run("audit", "show", shouts).wants(0, "git merge --no-edit")
	u.run("audit", "verify", "--all").wants(0, "all sound")
}
