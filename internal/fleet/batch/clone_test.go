package batch

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestACloneNamesWhatItIsOf in words that git reads as they were meant.
func TestACloneNamesWhatItIsOf(t *testing.T) {
	b := ready(t)
	repo := branched(t, 1)
	for i, name := range []string{"https://host/a.git", "git@host:a b.git", `a"b\c`, "a # b", "; a", " a ", "a\tb", "a\nb", "ä=[b]", `\`} {
		clone := filepath.Join(t.TempDir(), "c")
		s, err := b.startOf(t.Context(), Task{ID: "t", Repo: repo}, "")
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			s.branch = "feature/ä.b"
		}
		if err := b.makeClone(t.Context(), clone, name, s); err != nil {
			t.Fatal(err)
		}
		got, err := exec.Command("git", "-C", clone, "config", "--get-all", "remote.origin.url").Output()
		if err != nil || string(got) != name+"\n" {
			t.Errorf("%q is read as %q, %v", name, got, err)
		}
		if refs := gitIn(t, clone, "config", "--get-all", "remote.origin.fetch"); refs != "+refs/heads/*:refs/remotes/origin/*" {
			t.Errorf("%q", refs)
		}
		if at := gitIn(t, clone, "rev-parse", "@{upstream}"); at != s.base {
			t.Errorf("%s follows %s", s.branch, at)
		}
	}
}

// TestTasksOfARefBeginAtTheSamePlace: what is found once holds for the batch.
func TestTasksOfARefBeginAtTheSamePlace(t *testing.T) {
	b := ready(t)
	repo := branched(t, 2)
	calls := counted(t, b)
	begin := func(ref string) (string, []string) {
		t.Helper()
		calls()
		base, err := b.checkout(t.Context(), Task{ID: "t", Repo: repo, Ref: ref}, "")
		if err != nil {
			t.Fatal(err)
		}
		return base, calls()
	}
	first, _ := begin("b1")
	gitIn(t, repo, "branch", "-f", "b1", "main")
	if again, verbs := begin("b1"); again != first || len(verbs) > 3 {
		t.Errorf("the next task begins at %s, not at %s, after %v", again, first, verbs)
	}
	if other, _ := begin("b0"); other == first {
		t.Error("another ref begins there too")
	}
}
