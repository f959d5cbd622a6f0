package textedit

import (
	"math/bits"
	"strings"
	"unicode"
)

// alikeLine is the share of characters that two lines have in common when one can be a miscopy of
// the other.
const alikeLine = 0.75

const shortLine = 16 // bytes; below, only letters may differ

// likeness is the share of bytes that agree, 0 where it is below least.
func likeness(a, b string, least float64) float64 {
	if a == b {
		return 1
	}
	long := max(len(a), len(b))
	if long < shortLine && bare(a) != bare(b) {
		return 0
	}
	limit := int(float64(long) * (1 - least))
	if limit == 0 && long >= 3 {
		limit = 1 // one letter of a short line
	}
	dist, ok := within(a, b, limit)
	if !ok {
		return 0
	}
	return 1 - float64(dist)/float64(long)
}

// bare is a line without its letters. Short lines that differ in it say different things: <div> and
// </div>, case 1: and case 2:.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return -1
		}
		return r
	}, s)
}

// letters is a set of the byte values of a line, folded to 64: lines that have few of them in
// common are not alike, and that is cheap to see.
type letters uint64

func lettersOf(s string) (set letters) {
	for i := range len(s) {
		set |= 1 << (s[i] & 63)
	}
	return set
}

// apart is a number of changes that the lines need at least.
func (l letters) apart(m letters) int {
	return max(bits.OnesCount64(uint64(l&^m)), bits.OnesCount64(uint64(m&^l)))
}

// within gives the edit distance in bytes if it is at most limit. Only the band of the table that
// can matter is computed.
func within(a, b string, limit int) (int, bool) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return 0, false
	}
	far := limit + 1
	prev, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = min(j, far)
	}
	for i := 1; i <= len(a); i++ {
		lo, hi := max(1, i-limit), min(len(b), i+limit)
		row[lo-1] = far
		if lo == 1 {
			row[0] = min(i, far)
		}
		best := row[lo-1]
		for j := lo; j <= hi; j++ {
			cost := prev[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			cost = min(cost, row[j-1]+1)
			if j < i+limit {
				cost = min(cost, prev[j]+1)
			}
			row[j] = min(cost, far)
			best = min(best, row[j])
		}
		if best > limit {
			return 0, false
		}
		prev, row = row, prev
	}
	return prev[len(b)], prev[len(b)] <= limit
}
