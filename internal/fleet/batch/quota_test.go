package batch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestMirrorsStayWithinTheirQuota: the least recently used goes first, and never one in use.
func TestMirrorsStayWithinTheirQuota(t *testing.T) {
	b := ready(t)
	var repos []string
	for i := range 4 {
		repo := branched(t, 1)
		repos = append(repos, repo)
		if _, err := b.checkout(t.Context(), Task{ID: "t", Repo: repo}, ""); err != nil {
			t.Fatal(err)
		}
		unuse, err := b.use(t.Context(), Task{Repo: repo})
		if err != nil {
			t.Fatal(err)
		}
		unuse()
		at := time.Unix(int64(1_700_000_000+i), 0)
		if err := os.Chtimes(b.mirrored(repo)+".used", at, at); err != nil {
			t.Fatal(err)
		}
	}
	busy, err := b.use(t.Context(), Task{Repo: repos[0]})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_600_000_000, 0) // the oldest of all, and in use
	if err := os.Chtimes(b.mirrored(repos[0])+".used", at, at); err != nil {
		t.Fatal(err)
	}
	all, err := measure(b.mirrors.dir)
	if err != nil || len(all) != 4 || all[0].size == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	left := func() (out []int) {
		for i, repo := range repos {
			if isThere(b.mirrored(repo)) {
				out = append(out, i)
			}
		}
		return out
	}
	if err := Sweep(b.mirrors.dir, 2*all[0].size+all[0].size/2); err != nil || !slices.Equal(left(), []int{0, 3}) {
		t.Errorf("left: %v, %v", left(), err)
	}
	if err := Sweep(b.mirrors.dir, 0); err != nil || !slices.Equal(left(), []int{0}) {
		t.Errorf("left: %v, %v", left(), err)
	}
	busy()
	if err := Sweep(b.mirrors.dir, 0); err != nil || left() != nil {
		t.Errorf("left: %v, %v", left(), err)
	}
	// A removed mirror is made again, also for a task that had begun.
	task := Task{ID: "t", Repo: repos[3]}
	base := gitIn(t, b.clone(task), "rev-parse", "HEAD")
	if path, err := b.bare(t.Context(), task, base); err != nil || !isThere(filepath.Join(path, "HEAD")) {
		t.Errorf("%q, %v", path, err)
	}
}
