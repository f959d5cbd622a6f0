package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStopReturnsTheSame compares searches that end at the limit with those that go on: in all
// modes, with workers in each other's way, for limits within files, at their ends and beyond all
// there is.
func TestStopReturnsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	files := map[string]string{}
	names := []string{"a", "b", "c-d", "c", "e.go", "f.txt", "B", "zz"}
	for range 250 {
		path := names[rng.IntN(5)] + "1"
		for range rng.IntN(3) {
			path += "/" + names[rng.IntN(len(names))] + "1"
		}
		var text strings.Builder
		for range rng.IntN(20) {
			text.WriteString([]string{"needle", "hay", " ", "\n", "\n"}[rng.IntN(5)])
		}
		files[path+"/"+names[rng.IntN(len(names))]] = text.String()
	}
	tr := tree(t, files)
	for range 60 {
		q := GrepQuery{Query: query("needle"), Limit: 1 + rng.IntN(60), Mode: []Mode{Content, Files, Count}[rng.IntN(3)]}
		if rng.IntN(2) == 0 {
			q.PerFile = 1 + rng.IntN(3)
		}
		tr.Workers = 1 + rng.IntN(4)
		full := grep(t, tr, q)
		stopped := q
		stopped.Stop = true
		r := grep(t, tr, stopped)
		show := func(r GrepResult) (all []string) {
			for _, f := range r.Files {
				all = append(all, fmt.Sprint(f.Path, f.Lines))
			}
			return all
		}
		if diff := cmp.Diff(show(full), show(r)); diff != "" {
			t.Fatalf("%+v, %d workers: (-all +stopped)\n%s", q, tr.Workers, diff)
		}
		if more := len(full.Files) < full.Matching || q.Mode == Content && q.PerFile == 0 && full.Matches > q.Limit; more != r.Truncated && q.PerFile == 0 {
			t.Fatalf("%+v: more is %v, %d of %d matches", q, r.Truncated, r.Matches, full.Matches)
		}
		if !r.Truncated && (r.Matches != full.Matches || r.Matching != full.Matching || r.Searched != full.Searched) {
			t.Fatalf("%+v: %d matches in %d of %d files, want %d in %d of %d", q, r.Matches, r.Matching, r.Searched, full.Matches, full.Matching, full.Searched)
		}
	}
}

// TestStopLeavesTheRest counts what a search for a word that is everywhere still reads.
func TestStopLeavesTheRest(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("dir%02d/file%03d", i%40, i)] = "needle\nneedle\n"
	}
	tr := tree(t, files)
	for _, workers := range []int{1, 2} {
		tr.Workers = workers
		r := grep(t, tr, GrepQuery{Query: query("needle"), Limit: 10, Stop: true})
		if r.Searched > 100 || !r.Truncated || r.Matches != 10 || r.Matching != 5 || len(r.Files) != 5 {
			t.Errorf("%d workers: %d files searched, %d matches in %d, more %v", workers, r.Searched, r.Matches, r.Matching, r.Truncated)
		}
	}
	// A file with many is left, too.
	one := tree(t, map[string]string{"log": strings.Repeat("needle\n", 1<<16)})
	r := grep(t, one, GrepQuery{Query: query("needle"), Limit: 3, Stop: true, After: 1})
	if len(r.Files) != 1 || !r.Truncated || r.Matches != 3 || r.Files[0].Count > 10 {
		t.Errorf("of one file: %d matches, more %v, its count %d", r.Matches, r.Truncated, r.Files[0].Count)
	}
}
