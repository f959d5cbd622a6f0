package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheNewestFilesAreKept compares with sorting all of them, many of which are of the same time.
func TestTheNewestFilesAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	for range 300 {
		count, limit, times := rng.IntN(120), 1+rng.IntN(40), 1+rng.IntN(20)
		kept, all := newest{limit: limit}, []datedFile(nil)
		for i := range count {
			f := datedFile{modified: int64(rng.IntN(times)), size: int64(i)}
			folder, name := fmt.Sprintf("d%d/", rng.IntN(3)), fmt.Sprintf("f%03d", i)
			kept.add(f, folder, name)
			f.path = folder + name
			all = append(all, f)
		}
		if len(kept.files) >= 2*limit {
			t.Errorf("%d files are held for %d", len(kept.files), limit)
		}
		order := func(a, b datedFile) int { return a.compare(&b) }
		kept.cut()
		slices.SortFunc(kept.files, order)
		slices.SortFunc(all, order)
		var want, got []string
		for _, f := range all[:min(limit, len(all))] {
			want = append(want, f.path)
		}
		for _, f := range kept.files {
			got = append(got, f.path)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%d of %d with %d times:\n%s", limit, count, times, d)
		}
	}
}
