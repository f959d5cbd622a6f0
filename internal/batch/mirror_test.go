package batch

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// gitIn runs the git of this machine, as somebody.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestAKilledGitLeavesNoMirrorBehindThatIsOfNoUse: git leaves its locks when it is killed, and
// never takes one away.
func TestAKilledGitLeavesNoMirrorBehindThatIsOfNoUse(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	repo := t.TempDir()
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "one")
	gitIn(t, repo, "branch", "gone")
	b := fake(t, "", 1)
	if err := os.MkdirAll(b.Mirrors, 0o700); err != nil {
		t.Fatal(err)
	}
	b.mirrors.dir = b.Mirrors
	path := filepath.Join(b.Mirrors, "m.git")
	if err := b.fetch(t.Context(), repo, path); err != nil {
		t.Fatal(err)
	}
	gitIn(t, repo, "checkout", "-q", "-b", "new") // HEAD moves, one branch goes on, one comes, one goes
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "two")
	gitIn(t, repo, "branch", "-f", "main")
	gitIn(t, repo, "branch", "-D", "gone")
	gitIn(t, repo, "update-ref", "refs/pull/7/head", "HEAD")
	task := Task{ID: "a", Repo: repo, Ref: "refs/pull/7/head"}
	for _, name := range []string{"HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock", "refs/heads/main.lock", "refs/heads/new.lock", fetched(task) + ".lock"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.fetch(t.Context(), repo, path); err != nil {
		t.Fatal(err)
	}
	if head, err := b.git(t.Context(), path, nil, "symbolic-ref", "HEAD"); head != "refs/heads/new" {
		t.Errorf("HEAD is %q, %v", head, err)
	}
	// Many want the same ref that no branch leads to, at the same time.
	if err := os.WriteFile(filepath.Join(path, fetched(task)+".lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := b.git(t.Context(), repo, nil, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := b.resolve(t.Context(), task, path, ""); got != want {
				t.Errorf("%q is resolved, want %q: %v", got, want, err)
			}
		})
	}
	wg.Wait()
}
