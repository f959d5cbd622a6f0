package rank_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
	"adze/tool/rank"
)

func labelled(t testing.TB) labelledSet {
	t.Helper()
	set, err := readLabelled(os.DirFS("../../testdata/pick"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestPickRecall prints recall per scorer; run it with -v. The default may not become worse than it
// was, and beats plain overlap of words by half at three candidates, on queries it was not tuned
// on.
func TestPickRecall(t *testing.T) {
	const (
		floor  = 0.61 // of the default at 3, on the test half
		better = 1.5  // times plain overlap
	)
	set := labelled(t)
	if len(set.Tools) < 200 || len(set.Queries) < 300 {
		t.Fatalf("the set has %d tools and %d queries, want 200 and 300", len(set.Tools), len(set.Queries))
	}
	picker := rank.New(set.Tools)
	bm25 := func(query string) (names []string) {
		for _, r := range picker.Pick(query, rank.Options{MaxCandidates: 10, AllowUnsafe: true}) {
			names = append(names, r.Definition.Name)
		}
		return names
	}
	var words, standard Recall
	for _, half := range []Half{Dev, Issues, Test} {
		words, standard = set.Measure("keyword", set.keyword, half), set.Measure(rank.Name, bm25, half)
		t.Log(recallLine(words))
		t.Log(recallLine(standard))
		if half != Test && effort.Is(effort.Long) {
			for _, q := range standard.Missed {
				t.Log("missed: ", q.Text, " → ", q.Accept)
			}
		}
	}
	if at3 := standard.At[1]; at3 < floor || at3 < better*words.At[1] {
		t.Errorf("recall@3 is %.3f, want at least %.3f and %.1f × %.3f", at3, floor, better, words.At[1])
	}
}

func recallLine(r Recall) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-4s %3d queries  %-12s", r.Half, r.Queries, r.Scorer)
	for i, k := range Depths() {
		fmt.Fprintf(&b, "  @%-2d %.3f", k, r.At[i])
	}
	return b.String()
}
