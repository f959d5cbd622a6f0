package textedit

import (
	"maps"
	"slices"
	"strings"
)

// nearestPlace is where the copy fits best, even if that is badly.
func (d *doc) nearestPlace(b block) (pairing, bool) {
	if best, _ := d.places(b, 0.2); best != nil {
		return *best, true
	}
	at, score := d.closest(b)
	if score < closeEnough {
		var ok bool
		if at, ok = d.anyLine(b); !ok {
			return pairing{}, false
		}
	}
	p := pairing{to: make([]int, len(b.lines))}
	for i := range p.to {
		p.to[i] = -1
		if at+i < len(d.rows) {
			p.to[i] = at + i
		}
	}
	return p, true
}

// anyLine is where the copy would begin if its longest line that is in the text, or else its first
// that is like one, told it.
func (d *doc) anyLine(b block) (at int, ok bool) {
	rows := d.lines()
	if len(d.Text) > LenientLimit || b.blank() {
		return 0, false
	}
	first := map[string]int{}
	for i, s := range b.lines {
		if key := keyOf(s); key != "" {
			first[key] = i
		}
	}
	long := 0
	for j := range rows {
		if i, same := first[d.line(j).key]; same && len(b.lines[i]) > long {
			at, ok, long = max(0, j-i), true, len(b.lines[i])
		}
	}
	want := trimmed(b.lines)
	for i := 0; i < min(len(want), mostTried) && !ok; i++ {
		if near := d.around(want, i); want[i] != "" && len(near) > 0 {
			return near[0], true
		}
	}
	return at, ok
}

// closest finds the block of lines most like b among those that share a line with it, and the one
// around the line most like its longest.
func (d *doc) closest(b block) (at int, score float64) {
	rows := d.lines()
	if len(rows) == 0 || b.blank() || len(d.Text) > LenientLimit {
		return 0, 0
	}
	want := trimmed(b.lines)
	for _, i := range append(d.sharing(want), d.aroundLongest(want)...) {
		if s := d.likeness(i, want); s > score {
			at, score = i, s
		}
	}
	return at, score
}

// sharing lists the few places where most lines agree.
func (d *doc) sharing(want []string) []int {
	const few = 8
	first := map[string][]int{}
	for i, w := range want {
		if w != "" {
			first[w] = append(first[w], i)
		}
	}
	votes := map[int]int{}
	for i := range d.rows {
		for _, j := range first[strings.TrimSpace(d.row(i))] {
			votes[max(0, i-j)]++
		}
	}
	places := slices.Collect(maps.Keys(votes))
	slices.SortFunc(places, func(a, b int) int {
		if votes[a] != votes[b] {
			return votes[b] - votes[a]
		}
		return a - b
	})
	return places[:min(len(places), few)]
}

// likeness is the share of characters that agree, line by line.
func (d *doc) likeness(at int, want []string) float64 {
	same, all := 0, 0
	for i, w := range want {
		have := ""
		if at+i < len(d.rows) {
			have = strings.TrimSpace(d.row(at + i))
		}
		w, have = w[:min(len(w), reportCompared)], have[:min(len(have), reportCompared)]
		long := max(len(w), len(have))
		dist, _ := within(w, have, long)
		same, all = same+long-dist, all+long
		if all > 20*reportCompared {
			break
		}
	}
	return float64(same) / float64(max(1, all))
}

// aroundLongest compares the longest line, the one that says most, with every line of the text.
func (d *doc) aroundLongest(want []string) []int {
	key := 0
	for i, w := range want {
		if len(w) > len(want[key]) {
			key = i
		}
	}
	return d.around(want, key)
}

// around is where the copy would begin if the line of the text that is most like want[key] stood
// for it.
func (d *doc) around(want []string, key int) []int {
	needle := want[key][:min(len(want[key]), reportCompared)]
	at, score := -1, closeEnough
	budget := 50 << 20 // table cells, about a tenth of a second
	for i := range d.rows {
		have := strings.TrimSpace(d.row(i))
		have = have[:min(len(have), reportCompared)]
		long := max(len(needle), len(have))
		limit := int(float64(long) * (1 - score))
		if budget -= 16 + (2*limit+1)*len(needle)/4; budget < 0 {
			break
		}
		if dist, ok := within(needle, have, limit); ok {
			if s := 1 - float64(dist)/float64(max(1, long)); s > score {
				at, score = i, s
			}
		}
	}
	if at < 0 {
		return nil
	}
	return []int{max(0, at-key)}
}
