package prompt

import (
	"slices"
	"sort"
	"strings"
)

// candidates are paths prepared for fuzzy search.
type candidates struct {
	paths []string
	lower []string
	masks []uint64 // character set of each path, to reject most with one comparison
}

func newCandidates(paths []string) *candidates {
	c := &candidates{paths: paths, lower: make([]string, len(paths)), masks: make([]uint64, len(paths))}
	for i, p := range paths {
		c.lower[i] = strings.ToLower(p)
		c.masks[i] = maskOf(c.lower[i])
	}
	return c
}

func maskOf(s string) uint64 {
	var m uint64
	for i := 0; i < len(s); i++ {
		m |= 1 << (s[i] & 63)
	}
	return m
}

type scored struct{ index, score int }

// best returns the n best matches. Among equal matches, near paths win, then short ones.
func (c *candidates) best(query string, n int, work pathRanking) []string {
	query = strings.ToLower(query)
	mask := maskOf(query)
	var top []scored
	for i, path := range c.lower {
		if c.masks[i]&mask != mask {
			continue
		}
		s := fit(path, query)
		if s > 0 {
			s = work.raised(c.paths[i], s)
		}
		if s == 0 || len(top) == n && s <= top[n-1].score {
			continue
		}
		at := sort.Search(len(top), func(i int) bool { return top[i].score < s }) // after equal scores
		top = slices.Insert(top, at, scored{i, s})
		top = top[:min(len(top), n)]
	}
	out := make([]string, len(top))
	for i, t := range top {
		out[i] = c.paths[t.index]
	}
	return out
}

// Match grades; within a grade shorter paths win.
const (
	fitLetters = (iota + 1) * 10_000
	fitPath
	fitName
	fitStart
	fitWhole
)

// fit returns the score of a path, 0 for no match. The base name counts more than folders, a
// substring more than scattered letters.
func fit(path, query string) int {
	base := path[strings.LastIndexByte(path, '/')+1:]
	short := max(5000-len(path), 1)
	switch {
	case query == "":
		return short - 100*strings.Count(path, "/")
	case base == query:
		return fitWhole + short
	case strings.HasPrefix(base, query):
		return fitStart + short
	case strings.Contains(base, query):
		return fitName + short
	case strings.Contains(path, query):
		return fitPath + short
	}
	gaps, ok := scattered(path, query)
	if !ok {
		return 0
	}
	return max(fitLetters+short-20*gaps, 1)
}

// scattered matches letters in order, from the end, where names are. gaps counts interruptions,
// except before the start of a word.
func scattered(path, query string) (gaps int, ok bool) {
	at := len(path)
	for i := len(query) - 1; i >= 0; i-- {
		found := strings.LastIndexByte(path[:at], query[i])
		if found < 0 {
			return 0, false
		}
		if found != at-1 && at < len(path) && !beginsWord(path, at) {
			gaps++
		}
		at = found
	}
	return gaps, true
}

func beginsWord(path string, at int) bool {
	return at == 0 || strings.IndexByte("/-_. ", path[at-1]) >= 0
}
