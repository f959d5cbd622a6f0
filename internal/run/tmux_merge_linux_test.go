package run_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

// twoSessions are two in the background.
type twoSessions struct {
	asks, shouts string // their ids
	pid          int    // of the owner of the one that asks
	tree, model  string // of the other one: its work tree, and the file with the words of its model
}

// asksAndShouts begins two sessions in the background: one asks whether it may write made.txt, the
// other one has changed two places of a.txt in a work tree of its own, and is done.
func (u *user) asksAndShouts() (two twoSessions) {
	u.t.Helper()
	models := u.scripts("-- 1 --\ntext: I write it down.\ncall write: {\"path\":\"made.txt\",\"content\":\"one\"}\n-- 2 --\ntext: It is written down.\n",
		"-- 1 --\ncall read: {\"path\":\"a.txt\"}\n-- 2 --\ncall edit: {\"path\":\"a.txt\",\"old_string\":\"first\",\"new_string\":\"FIRST\"}\n"+
			"call edit: {\"path\":\"a.txt\",\"old_string\":\"last\",\"new_string\":\"LAST\"}\n-- 3 --\ntext: It is louder.\n")
	r := u.run("--background", "--permission-mode=ask", "--model="+models[0], "make the file").wants(0)
	two.asks = strings.TrimSpace(r.out)
	if _, err := fmt.Sscanf(r.err, "it works in the background (process %d)", &two.pid); err != nil {
		u.t.Fatal(err, r.err)
	}
	u.t.Cleanup(func() { u.run("stop", two.asks) })
	two.shouts = strings.TrimSpace(u.run("--background", "--permission-mode=yolo", "--model="+models[1], "shout").wants(0).out)
	two.tree, two.model = u.dir+"-background-"+two.shouts, strings.TrimPrefix(models[1], "script/")
	waitFor(u.t, "the second session is done", func() bool {
		return strings.Contains(u.run("sessions", "--json", "--all").out, `"state":"to review"`)
	})
	return two
}

// TestTheOverviewReviewsMergesAndCommits: two sessions in the background; the question of one is
// answered, and of the other one hunk is kept and one reverted, and the rest committed, all from
// the overview. Then it is merged and its work tree removed.
func TestTheOverviewReviewsAndCommits(t *testing.T) {
	u := newUser(t)
	git := u.checkedIn()
	p := u.openPane(100, 40)
	two := u.asksAndShouts()
	tree, shouts := two.tree, two.shouts
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
	p.sees("▸✓ shout", "v: review")
	if err := os.WriteFile(two.model, []byte("# a test\n-- 1 --\nexpect prompt: FIRST\ntext: Say it louder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.text("v")
	p.sees("net changes · 1 file", "+FIRST", "+LAST", "a: keep")
	p.rests()
	p.text("a")
	p.sees("kept")
	p.text("r")
	p.sees("Edit this file?", "+last", "y yes")
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
	p.text("/overview")
	p.keys("Enter")
	p.sees("Sessions", "▸✓ shout")

	p.text("q")
	p.restored(0)
	u.run("sessions", "merge", shouts, "--remove").wants(0)
	u.holds("a.txt", "FIRST\n"+strings.Repeat("same\n", 10)+"last\n")
	if _, err := os.Lstat(tree); !os.IsNotExist(err) {
		t.Errorf("the work tree is there: %v", err)
	}
	if got := git(u.dir, "log", "-1", "--format=%s", "main") + "|" + git(u.dir, "branch", "--list", "background-*"); got != "Say it louder now|" {
		t.Errorf("%q", got)
	}
	u.run("sessions", "why", "a.txt:1").wants(0, "a.txt:1  edit", "turn 1 of "+shouts)
	u.run("sessions", "why", "a.txt:2").wants(0, "not by adze")
	u.run("audit", "show", shouts).wants(0, "git merge --no-edit")
	u.run("audit", "verify", "--all").wants(0, "all sound")
}

// TestASessionIsMergedByAScript: adze sessions merge says what it would do, refuses what it would
// have to leave half done, merges, and removes the work tree.
func TestASessionIsMergedByAScript(t *testing.T) {
	u := newUser(t)
	git := u.checkedIn()
	two := u.asksAndShouts()
	tree, shouts := two.tree, two.shouts
	u.run("session", "merge", shouts).wants(2, "no commit of its own yet", "hint: commit them there")
	git(tree, "commit", "-qam", "Shout")
	u.run("session", "merge", shouts, "--dry-run").wants(0, "would merge 1 commit of background-"+shouts+" into main", "a.txt")
	if err := os.WriteFile(filepath.Join(u.dir, "a.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	u.run("session", "merge", shouts).wants(2, "has changes of its own in a.txt", "stash")
	u.holds("a.txt", "mine\n")
	git(u.dir, "commit", "-qam", "Mine")
	u.run("session", "merge", shouts).wants(2, "conflict in a.txt; nothing was merged", "git merge main, resolve")
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

// TestTheOverviewOfAKilledOwnerInANarrowTerminal: at 40 columns a question is peeked into; its owner
// is killed, which is seen at once, and a review still fits.
func TestTheOverviewOfAKilledOwnerInANarrowTerminal(t *testing.T) {
	u := newUser(t)
	u.checkedIn()
	p := u.openPane(40, 20)
	two := u.asksAndShouts()
	asks := two.asks
	p.begin("sessions")
	p.sees("Sessions  1 waiting for you", "needs you ──", "▸? make the file", "to review ──", "✓ shout")
	p.keys("Space")
	p.sees("I write it down.", "write made.txt", "y: allow once")
	if err := syscall.Kill(two.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.until("it needs nobody any more", func() bool {
		s := p.screen()
		return !strings.Contains(s, "waiting for you") && !strings.Contains(s, "y: allow once") && strings.Contains(s, "make the file")
	})
	if u.has("made.txt") {
		t.Error("it was written without an answer")
	}
	p.keys("Escape")
	p.until("the look is closed", func() bool { return !strings.Contains(p.screen(), "a look into it") })
	p.text("/")
	p.text("shout")
	p.keys("Enter")
	p.sees("▸✓ shout", "v: review")
	p.text("v")
	p.sees("net ch", "+FIRST", "+LAST", "a: keep")
	p.keys("Escape")
	p.until("the pane is closed", func() bool { return !strings.Contains(p.screen(), "since the session") })
	p.text("/overview")
	p.keys("Enter")
	p.sees("▸✓ shout")
	p.text("q")
	p.restored(0)
	u.run("-p", "--resume", asks, "--permission-mode=yolo", u.script("-- 1 --\ntext: I go on.\n"), "and now").wants(0, "I go on.")
	u.run("audit", "verify", "--all").wants(0, "all sound")
}

// TestASessionMergesItsOwnBranch: /merge and the key of the net changes say why nothing is merged,
// show the plan, and merge.
func TestASessionMergesItsOwnBranch(t *testing.T) {
	u := newUser(t)
	git := u.checkedIn()
	p := u.openPane(100, 40)
	p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"sed -i s/first/FIRST/ a.txt\"}\n-- 2 --\ntext: It is louder.\n"), "--permission-mode=yolo", "--worktree=topic")
	p.text("go")
	p.keys("Enter")
	p.sees("It is louder.", "F1: keys")
	p.rests()
	p.keys("F3")
	p.sees("net changes · 1 file")
	p.text("m")
	p.sees("the branch topic has no commit of its own yet", "I stages all and c commits")
	p.keys("F3")
	p.sees("net changes · 1 file")
	p.text("I")
	p.until("it is in the index", func() bool { return git(u.dir+"-topic", "diff", "--cached", "--name-only") == "a.txt" })
	p.until("the call has ended", func() bool { return !strings.Contains(p.screen(), "●") })
	p.text("q")
	p.until("the pane is closed", func() bool { return !strings.Contains(p.screen(), "since the session") })
	p.text("/commit Shout")
	p.keys("Enter")
	p.until("it is committed", func() bool { return git(u.dir+"-topic", "log", "-1", "--format=%s") == "Shout" })
	p.rests()
	p.text("/merge")
	p.keys("Enter")
	p.sees("merge 1 commit of topic into main", "merge 1 file", "change nothing")
	p.keys("Enter")
	p.until("it is merged", func() bool { return git(u.dir, "log", "-1", "--format=%s") == "Shout" })
	p.sees("merged topic into main; when you have left this session, adze worktree remove topic")
	p.rests()
	p.text("/merge")
	p.keys("Enter")
	p.sees("all of the branch topic is in main already", "adze worktree remove topic")
	p.keys("C-d")
	p.restored(0)
	u.run("worktree", "remove", "topic").wants(0, "removed")
}
