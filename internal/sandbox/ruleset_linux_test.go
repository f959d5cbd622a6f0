package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"adze/internal/sandbox"
)

// The rules of Landlock are kept from one command to the next, and hold for what is there then: a
// file that was replaced can be read, what is not shown cannot.
func TestRulesFollowTheFiles(t *testing.T) {
	b := newBench(t, sandbox.Landlock)
	b.box = sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state}, Read: []string{filepath.Join(b.home, "shown")}})
	t.Cleanup(b.box.Close)
	b.write("shown/x", "")
	cage := sandbox.ByMeans(b.box, sandbox.Landlock)
	reads := func(name, want string) {
		t.Helper()
		r, err := b.try(t.Context(), cage, "cat "+filepath.Join(b.home, name)+" 2>/dev/null")
		if err != nil || text(r) != want {
			t.Errorf("%s is read as %q, want %q: %v", name, text(r), want, err)
		}
	}
	b.write("shown/file", "one")
	reads("shown/file", "one")
	reads("shown/file", "one")
	b.write("shown/next", "two")
	if err := os.Rename(filepath.Join(b.home, "shown/next"), filepath.Join(b.home, "shown/file")); err != nil {
		t.Fatal(err)
	}
	reads("shown/file", "two")
	b.write("shown/new/file", "three")
	reads("shown/new/file", "three")
	b.write(".aws/credentials", "secret")
	reads(".aws/credentials", "")
	if err := os.RemoveAll(b.work); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.work, 0o755); err != nil {
		t.Fatal(err)
	}
	b.box = b.sandbox()
	if r, err := b.try(t.Context(), sandbox.ByMeans(b.box, sandbox.Landlock), "ls"); err != nil || r.Err() != nil {
		t.Errorf("%v %s", err, text(r))
	}
}
