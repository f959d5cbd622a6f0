//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Caches that nobody has used for long go. Those of another adze that runs stay.
func TestOldCachesGo(t *testing.T) {
	now := time.Unix(2_000_000_000, 0)
	c := caches{root: t.TempDir(), workspaceName: "own", now: func() time.Time { return now }}
	used := caches{root: c.root, workspaceName: "used", now: c.now}.begin()
	if used == nil {
		t.Fatal("it cannot be used")
	}
	defer used.Close()
	for name, age := range map[string]time.Duration{"own": 2 * keptCaches, "used": 2 * keptCaches, "old": 2 * keptCaches, "new": keptCaches / 2, ".old-half": 2 * keptCaches} {
		dir := filepath.Join(c.root, name)
		deep := filepath.Join(dir, "go", "deep")
		if err := os.MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(deep, 0o555); err != nil { // as go leaves modules
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, time.Time{}, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	c.trim()
	found, _ := filepath.Glob(filepath.Join(c.root, "*", "go"))
	var left []string
	for _, path := range found {
		left = append(left, filepath.Base(filepath.Dir(path)))
	}
	if slices.Sort(left); !slices.Equal(left, []string{"new", "own", "used"}) {
		t.Errorf("left are %q", left)
	}
}
