package tool

import (
	"sort"
	"strings"
)

// Nearest returns up to n candidates that look like name, best first: for "did you mean". A candidate
// counts when it contains name or the reverse, or differs in at most a third of its letters.
func Nearest(name string, candidates []string, n int) []string {
	type scored struct {
		name string
		cost int
	}
	var near []scored
	want := fold(name)
	for _, c := range candidates {
		have := fold(c)
		cost := distance(want, have)
		contains := len(want) > 2 && len(have) > 2 && (strings.Contains(have, want) || strings.Contains(want, have))
		if contains || cost*3 <= max(len(want), len(have)) {
			near = append(near, scored{c, cost})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].cost < near[j].cost })
	out := make([]string, 0, n)
	for _, s := range near[:min(n, len(near))] {
		out = append(out, s.name)
	}
	return out
}

func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// distance is the Levenshtein distance in bytes, with two rows.
func distance(a, b string) int {
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	row := make([]int, len(b)+1)
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := previous[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, previous[j+1]+1, row[j]+1)
		}
		previous, row = row, previous
	}
	return previous[len(b)]
}
