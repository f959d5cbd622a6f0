package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeadOfRealRepositories compares with what git itself makes.
func TestHeadOfRealRepositories(t *testing.T) {
	d := newDesk(t)
	want := func(dir, head string) {
		t.Helper()
		if got := Head(dir); got != head {
			t.Errorf("%s: %q, want %q", dir, got, head)
		}
	}
	want(d.work, "main")
	d.sh("mkdir -p deep/er; git checkout -q -b feature/parser")
	want(filepath.Join(d.work, "deep", "er"), "feature/parser")
	d.sh("git worktree add -q -b other ../linked")
	want(filepath.Join(filepath.Dir(d.work), "linked"), "other")
	d.sh("git checkout -q --detach")
	if got := Head(d.work); len(got) != len("a1b2c3d detached") || !strings.HasSuffix(got, " detached") {
		t.Errorf("detached: %q", got)
	}
	d.sh("git checkout -q --orphan unborn")
	want(d.work, "unborn")
}

func TestHeadTellsNothingThatItDoesNotKnow(t *testing.T) {
	top := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(top, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sha := strings.Repeat("ab12", 10)
	write("ref/.git/HEAD", "ref: refs/heads/a\u202eb\n")
	write("tag/.git/HEAD", "ref: refs/tags/v1\n")
	write("reftable/.git/HEAD", "ref: refs/heads/.invalid\n")
	write("sha/.git/HEAD", sha+"\n")
	write("sha256/.git/HEAD", sha+strings.Repeat("0", 24))
	write("short/.git/HEAD", "ab12\n")
	write("other/.git/HEAD", "# "+sha)
	write("empty/.git/HEAD", "")
	write("huge/.git/HEAD", "ref: refs/heads/"+strings.Repeat("x", maxSmallFile))
	write("missing/.git/config", "")
	write("relative/.git", "gitdir: ../ref/.git\n")
	write("nonsense/.git", "HEAD\n")
	for name, want := range map[string]string{
		"ref": "a\u202eb", "tag": "branch unknown", "reftable": "branch unknown", "sha": "ab12ab1 detached", "sha256": "ab12ab1 detached", "short": "", "other": "",
		"empty": "", "huge": "", "missing": "", "relative": "a\u202eb", "nonsense": "", "not/there/at/all": "",
	} {
		if got := Head(filepath.Join(top, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
