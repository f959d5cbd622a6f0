//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheOldestCachesGo: by parts, at the start, and not while another adze uses them.
func TestTheOldestCachesGo(t *testing.T) {
	now := time.Unix(2_000_000_000, 0)
	c := caches{root: filepath.Join(t.TempDir(), "cache"), own: "own", quota: 2500, now: func() time.Time { return now }}
	other := c
	other.own, other.quota = "busy", 1<<40
	age := func(path string, ago time.Duration) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(c.root, path), time.Time{}, now.Add(-ago)); err != nil {
			t.Fatal(err)
		}
	}
	put := func(path string, ago time.Duration) {
		t.Helper()
		dir := filepath.Join(c.root, path, "deep")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 1000), 0o444); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o555); err != nil { // as go leaves modules
			t.Fatal(err)
		}
		age(path, ago)
	}
	put("own/go-build", time.Hour)
	put("own/npm", 50*time.Hour)
	put("old/pip", 90*time.Hour)
	put("busy/pip", 100*time.Hour)
	for name, ago := range map[string]time.Duration{"own": 50 * time.Hour, "old": 80 * time.Hour, "busy": 100 * time.Hour} {
		age(name, ago)
	}
	left := func() string {
		found, _ := filepath.Glob(filepath.Join(c.root, "[a-z]*", "*", "deep"))
		for i := range found {
			found[i], _ = filepath.Rel(c.root, filepath.Dir(found[i]))
		}
		return strings.Join(found, " ")
	}
	if f := c.begin(); f == nil {
		t.Fatal("it cannot be used")
	} else {
		f.Close()
	}
	if got := left(); strings.Count(got, "/") != 4 {
		t.Errorf("nothing was measured, and only %s is left", got)
	}
	age("own", 50*time.Hour)
	stop := make(chan struct{})
	c.measure(stop)
	busy := other.begin() // of another adze, which makes it the newest
	defer busy.Close()
	age("busy", 100*time.Hour)
	f := c.begin()
	if f == nil {
		t.Fatal("it cannot be used")
	}
	defer f.Close()
	if got := left(); got != "busy/pip own/go-build" {
		t.Errorf("left is %s", got)
	}
	c.measure(stop)
	if gone, _ := filepath.Glob(filepath.Join(c.root, oldCaches+"*")); len(gone) > 0 {
		t.Errorf("%q is not removed", gone)
	}
	again := c.begin()
	defer again.Close()
	if got := left(); got != "busy/pip own/go-build" {
		t.Errorf("below the quota %s is left", got)
	}
}

// TestAMeasurementThatIsStoppedGoesOn keeps what it has.
func TestAMeasurementThatIsStoppedGoesOn(t *testing.T) {
	c := caches{root: t.TempDir(), own: "own", quota: 1, now: time.Now}
	if err := os.MkdirAll(filepath.Join(c.root, "own", "go-build"), 0o755); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	close(stopped)
	c.measure(stopped)
	if _, err := os.Stat(c.list()); err == nil {
		t.Error("half a measurement is believed")
	}
	c.measure(make(chan struct{}))
	if _, err := os.Stat(c.list()); err != nil {
		t.Error(err)
	}
}
