package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// A path is followed through each link on its way, as far as it exists.
func TestPathsAreFollowedAsFarAsTheyExist(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"a/b/c", "d"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"l": "a", "a/b/up": "../../d", "d/on": at("l/b"), "void": "nowhere"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a/b": "a/b", "l": "a", "l/b/c": "a/b/c", "l/b/up": "d", "l/b/up/on/c": "a/b/c", "d/on/up/on": "a/b",
		"void": "void", "void/x": "void/x", "l/none/x": "a/none/x", "a/../l/b": "a/b",
	} {
		if got := real(at(path)); got != at(want) {
			t.Errorf("%s leads to %s, want %s", path, got, at(want))
		}
	}
	if got, want := OutsidePath(at("l/b")+":"+at("l/b/up")+":/:rel", at("d")), at("l/b")+":/"; got != want {
		t.Errorf("the search path is %q, want %q", got, want)
	}
}
