package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// ahead is a clock for which no folder is too young. Between a search with it and a change the
// clock of the file system has to move on: see tick.
func ahead() time.Time { return time.Now().Add(time.Hour) }

// tick waits until the clock of the file system has moved.
func tick(t testing.TB, probe string) {
	t.Helper()
	var first time.Time
	for {
		must(t, os.WriteFile(probe, []byte("x"), 0o600))
		info, err := os.Stat(probe)
		must(t, err)
		if first.IsZero() {
			first = info.ModTime()
		}
		if info.ModTime().After(first) {
			return
		}
	}
}

// rearrange changes what is in folders at random, in all the ways there are.
func rearrange(t testing.TB, root string, rng *rand.Rand) {
	t.Helper()
	folder := func() string { return fmt.Sprintf("%s/d%d/e%d", root, rng.IntN(3), rng.IntN(3)) }
	path, other := fmt.Sprintf("%s/f%d.txt", folder(), rng.IntN(8)), fmt.Sprintf("%s/f%d.txt", folder(), rng.IntN(8))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	switch rng.IntN(12) {
	case 0, 1:
		_ = os.WriteFile(path, []byte("needle\n"), 0o644)
	case 2:
		_ = os.Rename(path, other)
	case 3:
		_ = os.Remove(path)
	case 4:
		_ = os.Link(path, other)
	case 5:
		_ = os.Remove(path)
		_ = os.Symlink(other, path)
	case 6:
		_ = os.Rename(filepath.Dir(path), filepath.Dir(other))
	case 7: // one entry for another, of whatever kind, at once
		_ = unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, filepath.Dir(other), unix.RENAME_EXCHANGE)
	case 8:
		_ = os.RemoveAll(path)
		_ = os.Mkdir(path, 0o755)
	case 9: // rules come, change and go, and so what counts
		rule := []string{"f1.txt\n", "*.txt\n!f2.txt\n", ""}[rng.IntN(3)]
		if os.WriteFile(filepath.Dir(path)+"/.gitignore", []byte(rule), 0o644); rule == "" {
			_ = os.Remove(filepath.Dir(path) + "/.gitignore")
		}
	case 10: // times that are put back
		if info, err := os.Stat(filepath.Dir(path)); err == nil {
			_ = os.WriteFile(path+"~", []byte("needle\n"), 0o644)
			_ = os.Chtimes(filepath.Dir(path), info.ModTime(), info.ModTime())
		}
	case 11:
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

// TestRememberedFoldersHideNothing compares searches that remember folders with others while
// entries change at random.
func TestRememberedFoldersHideNothing(t *testing.T) {
	needSigns(t) // what is not signed is not remembered either
	tr := tree(t, map[string]string{"start.txt": "needle\n"})
	tr.Folders = NewFolders()
	tr.Folders.now = ahead
	plain, rng, probe := Tree{Root: tr.Root}, rand.New(rand.NewPCG(5, 8)), filepath.Join(t.TempDir(), "probe")
	for round := range 160 {
		for range rng.IntN(3) {
			rearrange(t, tr.Root, rng)
		}
		q := GlobQuery{Pattern: []string{"**", "**/f[1-4].txt"}[round%2], Limit: 1000}
		want, err := plain.Glob(context.Background(), q)
		must(t, err)
		got, err := tr.Glob(context.Background(), q)
		must(t, err)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("round %d, files found without memory (-) and with it (+):\n%s", round, d)
		}
		grep := GrepQuery{Query: query("needle"), Limit: 1000}
		lines, err := plain.Grep(context.Background(), grep)
		must(t, err)
		found, err := tr.Grep(context.Background(), grep)
		must(t, err)
		if d := cmp.Diff(lines, found); d != "" {
			t.Fatalf("round %d, lines found without memory (-) and with it (+):\n%s", round, d)
		}
		tick(t, probe)
	}
	if hits := tr.Folders.hits.Load(); hits < 1000 {
		t.Errorf("%d folders were remembered: this shows little", hits)
	}
}

// A folder that changed a moment ago may change again without another time: it is read anew.
func TestYoungFoldersAreNotRemembered(t *testing.T) {
	needSigns(t)
	tr := tree(t, map[string]string{"a/x.txt": "", "b/y.txt": ""})
	tr.Folders = NewFolders()
	look := func(want int64) {
		t.Helper()
		before := tr.Folders.hits.Load()
		_, err := tr.Glob(context.Background(), GlobQuery{Pattern: "**", Limit: 9})
		must(t, err)
		if got := tr.Folders.hits.Load() - before; got != want {
			t.Errorf("%d folders were not read, want %d", got, want)
		}
	}
	// The tree was made less than two seconds before this clock.
	info, err := os.Stat(tr.Root + "/b")
	must(t, err)
	now := info.ModTime().Add(time.Second)
	tr.Folders.now = func() time.Time { return now }
	look(0)
	look(0)
	now = ahead()
	look(0)
	look(3)
	now = now.Add(-time.Minute) // the clock was set back
	look(0)
	look(3)
}

// What is remembered is bounded.
func TestRememberedFoldersAreBounded(t *testing.T) {
	needSigns(t)
	tr := tree(t, map[string]string{"a/x.txt": "", "b/y.txt": ""})
	tr.Folders = NewFolders()
	tr.Folders.now, tr.Folders.entries = ahead, maxKept-4
	_, err := tr.Glob(context.Background(), GlobQuery{Pattern: "**", Limit: 9})
	must(t, err)
	if tr.Folders.entries > 20 || len(tr.Folders.kept) == 0 {
		t.Errorf("%d entries of %d folders", tr.Folders.entries, len(tr.Folders.kept))
	}
}
