package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLinked: the work trees of a repository are found from each of them, and from folders inside;
// a folder that says so by itself is none.
func TestLinked(t *testing.T) {
	b := newBench(t)
	made := b.make("one").Dir
	b.sh(b.main, "git worktree add -q ../two")
	forged := filepath.Join(b.top, "forged")
	if err := os.MkdirAll(forged, 0o700); err != nil {
		t.Fatal(err)
	}
	pointer, err := os.ReadFile(filepath.Join(b.top, "two", ".git"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(forged, ".git"), pointer, 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{made, filepath.Join(b.top, "two")}
	slices.Sort(want)
	for dir, want := range map[string][]string{b.main: want, filepath.Join(b.main, "sub"): want, filepath.Join(b.top, "two", "sub"): want, b.top: nil, forged: nil} {
		got := Linked(dir)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
