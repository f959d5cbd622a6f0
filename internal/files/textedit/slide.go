package textedit

import "slices"

// lineChange replaces the old lines [o0,o1) by the lines [s0,s1) of another text.
type lineChange struct{ o0, o1, s0, s1 int }

// changesOf lists what lies between pairs.
func changesOf(to []int, size int) (list []lineChange) {
	o, s := 0, 0
	for i := 0; i <= len(to); i++ {
		if i < len(to) && to[i] < 0 {
			continue
		}
		end := size
		if i < len(to) {
			end = to[i]
		}
		if i > o || end > s {
			list = append(list, lineChange{o, i, s, end})
		}
		o, s = i+1, end+1
	}
	return list
}

// extent is the range of old lines in which the change could stand as well: an added } beside
// another } may be either.
func (c lineChange) extent(old, side []line, to []int, same func(a, b line) bool) (lo, hi int) {
	list, from, end := side, c.s0, c.s1
	inserted := c.o0 == c.o1
	if !inserted {
		if c.s0 != c.s1 {
			return c.o0, c.o1
		}
		list, from, end = old, c.o0, c.o1
	}
	lo, hi = c.o0, c.o1
	s := c.s0
	for f, e := from, end; lo > 0 && f > 0 && to[lo-1] == s-1 && same(list[e-1], list[f-1]); f, e = f-1, e-1 {
		lo, s = lo-1, s-1
	}
	s = c.s1
	for f, e := from, end; hi < len(old) && e < len(list) && to[hi] == s && same(list[f], list[e]); f, e = f+1, e+1 {
		hi, s = hi+1, s+1
	}
	return lo, hi
}

const mostSlides = 12 // ways tried for each side

// slides lists the ways to pair the lines as well as to does, to itself first: with one stretch
// that a side has alone in another of its places.
func slides(old, side []line, to []int, same func(a, b line) bool) [][]int {
	ways := [][]int{to}
	for _, c := range changesOf(to, len(side)) {
		ways = append(ways, c.borders(old, side, to, same)...)
		lo, hi := c.extent(old, side, to, same)
		for at := lo; at <= hi-(c.o1-c.o0) && len(ways) < mostSlides; at++ {
			if at == c.o0 {
				continue
			}
			way := append([]int{}, to...)
			for i := lo; i < hi; i++ { // the lines of the extent, around the change at its new place
				way[i] = i - lo + c.s0 - (c.o0 - lo)
				switch {
				case c.o0 == c.o1 && i >= at:
					way[i] += c.s1 - c.s0
				case c.o0 < c.o1 && i >= at && i < at+c.o1-c.o0:
					way[i] = -1
				case c.o0 < c.o1 && i >= at+c.o1-c.o0:
					way[i] -= c.o1 - c.o0
				}
			}
			ways = append(ways, way)
		}
	}
	return ways
}

// borders lists the ways in which a line beside a replaced stretch, and an equal one at its border,
// change places.
func (c lineChange) borders(old, side []line, to []int, same func(a, b line) bool) (ways [][]int) {
	if c.o0 == c.o1 || c.s0 == c.s1 {
		return nil // it slides
	}
	swap := func(i, j, k, l int) {
		way := slices.Clone(to)
		if way[i] = j; k >= 0 {
			way[k] = l
		}
		ways = append(ways, way)
	}
	if c.o1 < len(old) {
		if same(side[c.s1-1], side[c.s1]) {
			swap(c.o1, c.s1-1, -1, 0)
		}
		if same(old[c.o1-1], old[c.o1]) {
			swap(c.o1-1, c.s1, c.o1, -1)
		}
	}
	if c.o0 > 0 {
		if same(side[c.s0], side[c.s0-1]) {
			swap(c.o0-1, c.s0, -1, 0)
		}
		if same(old[c.o0], old[c.o0-1]) {
			swap(c.o0, c.s0-1, c.o0-1, -1)
		}
	}
	return ways
}

// firstGap is the first line of the other side behind a line that is not there, for a message.
func firstGap(to []int) int {
	for i, j := range to {
		if j >= 0 && (i > 0 && to[i-1] != j-1 || i == 0 && j > 0) {
			return j
		}
	}
	return 0
}

// edges lists pairings without the line before the first gap, or behind the last, where it says
// little or the gap is long: it may have been paired with a line of another place. The block stays
// as long as it is, so what it stood for is kept.
func (m *merger) edges(to []int) (cuts [][]int) {
	var pairs []int
	for i, j := range to {
		if j >= 0 && !m.a[i].blank() {
			pairs = append(pairs, i)
		}
	}
	if len(pairs) < 3 {
		return nil
	}
	for _, e := range [][2]int{{pairs[0], pairs[1]}, {pairs[len(pairs)-1], pairs[len(pairs)-2]}} {
		from, end := min(to[e[0]], to[e[1]])+1, max(to[e[0]], to[e[1]])
		missing := 0
		for j := from; j < end; j++ {
			if !slices.Contains(to, j) && !m.f[j].blank() {
				missing++
			}
		}
		if missing > 1 || missing == 1 && !m.a[e[0]].tells() {
			cut := slices.Clone(to)
			cut[e[0]] = -1
			cuts = append(cuts, cut)
		}
	}
	return cuts
}

// elsewhere doubts a line that is paired with one that is like it while one that equals it stands
// close by, unpaired.
func (m *merger) elsewhere() {
	const close = 4 // rows
	taken := map[int]bool{}
	for i, j := range m.toFile {
		taken[j] = j >= 0 && m.a[i].key == m.f[j].key
	}
	first, last := slices.Index(m.toFile, 0), slices.Index(m.toFile, len(m.f)-1)
	for i, j := range m.toFile {
		repeats := i < first && m.d.count(m.a[first].key) > 1 || i > last && m.d.count(m.a[last].key) > 1
		if j >= 0 && (m.a[i].key == m.f[j].key || !m.a[i].tells()) || j < 0 && !repeats {
			continue
		}
		for row := max(0, m.from-close); row < min(len(m.d.rows), m.from+len(m.f)+close); row++ {
			if !taken[row-m.from] && m.d.line(row).key == m.a[i].key {
				m.stray = &doubt{row: row, why: "the line stands in old_string, but where old_string fits best there is another one"}
			}
		}
	}
}
