package batch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestACloneNamesWhatItIsOf in words that git reads as they were meant.
func TestACloneNamesWhatItIsOf(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	repo := t.TempDir()
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "one")
	for i, name := range []string{"https://host/a.git", "git@host:a b.git", `a"b\c`, "a # b", "; a", " a ", "a\tb", "a\nb", "ä=[b]", `\`} {
		mirror, clone := filepath.Join(t.TempDir(), `m"\ #.git`), filepath.Join(t.TempDir(), "c")
		if i%2 == 0 {
			mirror = filepath.Join(t.TempDir(), "m.git")
		}
		gitIn(t, repo, "clone", "-q", "--bare", repo, mirror)
		gitIn(t, repo, "clone", "-q", "--no-checkout", mirror, clone)
		b := fake(t, "", 1)
		if err := b.comesFrom(t.Context(), clone, mirror, name); err != nil {
			t.Fatal(err)
		}
		got, err := exec.Command("git", "-C", clone, "config", "--get-all", "remote.origin.url").Output()
		if err != nil || string(got) != name+"\n" {
			t.Errorf("%q is read as %q, %v", name, got, err)
		}
		if refs, err := exec.Command("git", "-C", clone, "config", "--get-all", "remote.origin.fetch").Output(); err != nil || string(refs) != "+refs/heads/*:refs/remotes/origin/*\n" {
			t.Errorf("%q, %v", refs, err)
		}
	}
}

// TestTasksOfARefBeginAtTheSamePlace: what is found once holds for the batch, and a commit that no
// branch leads to is brought.
func TestTasksOfARefBeginAtTheSamePlace(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	repo := t.TempDir()
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "one")
	gitIn(t, repo, "branch", "other")
	gitIn(t, repo, "checkout", "-q", "--detach")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "two")
	gitIn(t, repo, "update-ref", "refs/pull/7/head", "HEAD")
	gitIn(t, repo, "checkout", "-q", "main")
	b := fake(t, "", 1)
	b.mirrors.dir = b.Mirrors
	if err := os.MkdirAll(b.Mirrors, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, ask := range []struct{ ref, branch, commit string }{{"", "main", "main"}, {"other", "other", "other"}, {"refs/pull/7/head", "HEAD", "refs/pull/7/head"}, {"", "main", "main"}} {
		task := Task{ID: "t", Repo: repo, Ref: ask.ref}
		want, err := b.git(t.Context(), repo, nil, "rev-parse", ask.commit)
		if err != nil {
			t.Fatal(err)
		}
		base, err := b.checkout(t.Context(), task, "")
		if err != nil || base != want {
			t.Fatalf("%q begins at %q, want %q: %v", ask.ref, base, want, err)
		}
		if head, _ := b.git(t.Context(), b.clone(task), nil, "rev-parse", "HEAD"); head != want {
			t.Errorf("%q is checked out at %q", ask.ref, head)
		}
		if on, _ := b.git(t.Context(), b.clone(task), nil, "rev-parse", "--abbrev-ref", "HEAD"); on != ask.branch {
			t.Errorf("%q is on %q", ask.ref, on)
		}
	}
	if len(b.mirrors.starts) != 3 {
		t.Errorf("%v", b.mirrors.starts)
	}
}
