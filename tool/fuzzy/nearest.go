// Package fuzzy finds names similar to an unknown one, for "did you mean".
//
// The one rule: a huge name costs nothing.
//
// Start reading at Names.
//
// Known limits: it compares bytes, so a letter that is not ASCII counts more than once.
package fuzzy

import (
	"sort"
	"strings"
)

// Names returns up to n candidates similar to name, best first. A candidate qualifies if it
// contains name or the reverse, or differs in at most a third of its letters.
func Names(name string, candidates []string, n int) []string {
	type scored struct {
		name string
		cost int
	}
	var near []scored
	want := Fold(name)
	for _, c := range candidates {
		if cost, ok := likeness(want, Fold(c)); ok {
			near = append(near, scored{c, cost})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].cost < near[j].cost })
	out := make([]string, 0, max(0, n))
	for _, s := range near[:min(max(0, n), len(near))] {
		out = append(out, s.name)
	}
	return out
}

// likeness returns the distance between two folded names and whether it is small enough. The
// distance is at least the difference in length, and exactly that if one contains the other, so
// that a huge name costs nothing.
func likeness(a, b string) (cost int, ok bool) {
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))
	if shorter > 2 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return longer - shorter, true
	}
	if (longer-shorter)*3 > longer {
		return 0, false
	}
	cost = Distance(a, b)
	return cost, cost*3 <= longer
}

// Fold returns a name in lower case without _, - and spaces.
func Fold(s string) string { return separators.Replace(strings.ToLower(s)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// Distance returns the Levenshtein distance in bytes, counting two swapped neighbors as one change.
// Three rows are enough.
func Distance(a, b string) int {
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := previous[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, previous[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, previous, row = previous, row, before
	}
	return previous[len(b)]
}
