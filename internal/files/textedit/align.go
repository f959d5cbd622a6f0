package textedit

import (
	"slices"
	"sort"
	"strings"
)

const (
	alignCells = 24 << 20 // table cells computed before an alignment gives up
	alignAlike = 20_000   // different pairs of lines compared by letters before only equal ones count
	alignCost  = 0.6      // of a line's weight, for a line that one side has alone
	alignMost  = 8        // places kept beside the best one
	blankLine  = 0.1      // weights: what it says that lines agree
	plainLine  = 0.4
	alikeGain  = 0.3 // of a pair that is alike, where all weigh the same
	movedGain  = 0.8 // of one that differs in its indentation
)

// line is a line as alignments see it.
type line struct {
	key    string
	text   string // as it stands, without white space at its end
	weight float64
	set    letters
}

// blank reports whether nothing stands on the line; a line tells much when it holds a few letters.
func (l line) blank() bool { return l.key == "" }
func (l line) tells() bool { return l.weight == 1 }

func lineOf(s string) line {
	key := keyOf(s)
	l := line{key: key, text: strings.TrimRight(s, " \t\r"), weight: 1, set: lettersOf(key)}
	words := 0
	for i := 0; i < len(key) && words < 3; i++ {
		if c := key[i]; c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			words++
		}
	}
	switch {
	case key == "":
		l.weight = blankLine
	case words < 3:
		l.weight = plainLine
	}
	return l
}

func linesOf(list []string) []line {
	out := make([]line, len(list))
	for i, s := range list {
		out[i] = lineOf(s)
	}
	return out
}

func weigh(list []line) (sum float64) {
	for _, l := range list {
		sum += l.weight
	}
	return sum
}

// pairing says which line of b stands for each line of a; the pairs never cross.
type pairing struct {
	to []int // if -1, none
}

// bounds are the lines of b from the first pair to the last; ok is false when there is none.
func (p pairing) bounds() (from, end int, ok bool) {
	from = -1
	for _, j := range p.to {
		if j >= 0 && from < 0 {
			from = j
		}
		if j >= 0 {
			end = j + 1
		}
	}
	return from, end, from >= 0
}

func (p pairing) shares(q pairing) bool {
	for i, j := range p.to {
		if j >= 0 && q.to[i] == j {
			return true
		}
	}
	return false
}

// aligner pairs the lines of a with lines of b by the least cost. With free, a may lie anywhere in
// b.
type aligner struct {
	a, b  []line
	least float64 // likeness of a pair
	free  bool
	even  bool
	known map[[2]string]float64
	exact bool // only equal lines are pairs: too many are alike
	steps []byte
	last  []float64 // the scores of the last row
}

const (
	stepPair = iota
	stepA    // a line of a alone
	stepB
	stepStart
)

func (al *aligner) like(i, j int) float64 {
	a, b := al.a[i], al.b[j]
	if a.key == b.key {
		return 1
	}
	if al.exact {
		return 0
	}
	long := max(len(a.key), len(b.key))
	if least := min(len(a.key), len(b.key)); float64(least) < al.least*float64(long)-1 {
		return 0
	}
	if float64(a.set.apart(b.set)) > max(1, float64(long)*(1-al.least)) {
		return 0
	}
	pair := [2]string{a.key, b.key}
	like, ok := al.known[pair]
	if !ok {
		like = likeness(a.key, b.key, al.least)
		al.known[pair] = like
		al.exact = len(al.known) > alignAlike
	}
	return like
}

// run fills the table; false when it would be too large. Where a file is made of lines that are all
// alike, equal ones alone are pairs, from the first line to the last.
func (al *aligner) run() bool {
	if (len(al.a)+1)*(len(al.b)+1) > alignCells {
		return false
	}
	al.known = map[[2]string]float64{}
	if al.fill(); al.exact {
		al.fill()
	}
	return true
}

func (al *aligner) fill() {
	n, m := len(al.a), len(al.b)
	al.steps = make([]byte, (n+1)*(m+1))
	prev, row := make([]float64, m+1), make([]float64, m+1)
	for j := range prev {
		al.steps[j] = stepStart
		if j > 0 && !al.free {
			prev[j] = prev[j-1] - alignCost*al.b[j-1].weight
			al.steps[j] = stepB
		}
	}
	for i := 1; i <= n; i++ {
		a := al.a[i-1]
		row[0] = prev[0] - alignCost*a.weight
		steps := al.steps[i*(m+1):]
		steps[0] = stepA
		for j := 1; j <= m; j++ {
			best, step := prev[j]-alignCost*a.weight, byte(stepA)
			if s := row[j-1] - alignCost*al.b[j-1].weight; s > best {
				best, step = s, stepB
			}
			if like := al.like(i-1, j-1); like > 0 {
				gain := a.weight * (1 - 3*(1-like))
				switch {
				case al.even && like < 1:
					gain = alikeGain * like
				case al.even && a.text != al.b[j-1].text:
					gain *= movedGain
				}
				if s := prev[j-1] + gain; s >= best {
					best, step = s, stepPair
				}
			}
			row[j], steps[j] = best, step
		}
		prev, row = row, prev
	}
	al.last = prev
}

// ending is the best pairing that ends before line j of b.
func (al *aligner) ending(j int) pairing {
	p := pairing{to: make([]int, len(al.a))}
	m := len(al.b) + 1
	for i := len(al.a); i > 0; {
		switch al.steps[i*m+j] {
		case stepPair:
			i, j = i-1, j-1
			p.to[i] = j
		case stepA:
			i--
			p.to[i] = -1
		case stepB:
			j--
		}
	}
	return p
}

// places lists the best pairings of a free alignment, best first, without those that share a pair
// with a better one: windows that overlap so are one place.
func (al *aligner) places(least float64) (found []pairing) {
	order := make([]int, 0, 64)
	for j, s := range al.last {
		if s >= least {
			order = append(order, j)
		}
	}
	sort.SliceStable(order, func(x, y int) bool { return al.last[order[x]] > al.last[order[y]] })
	for _, j := range order {
		p := al.ending(j)
		if _, _, ok := p.bounds(); !ok {
			continue
		}
		known := false
		for _, q := range found {
			known = known || p.shares(q)
		}
		if !known {
			found = append(found, p)
		}
		if len(found) > alignMost {
			break
		}
	}
	return found
}

// alignWhole pairs two lists from end to end. All lines weigh the same, and equal lines more than
// those that are alike.
func alignWhole(a, b []line) (pairing, bool) {
	al := &aligner{a: even(a), b: even(b), least: pairedNew, even: true}
	if !al.run() {
		return pairing{}, false
	}
	return al.ending(len(b)), true
}

func even(list []line) []line {
	out := slices.Clone(list)
	for i := range out {
		if !out[i].blank() {
			out[i].weight = 1
		}
	}
	return out
}

// keyOf is a line as it is compared: look-alike characters folded, white space inside as one space,
// none at its ends.
func keyOf(s string) string {
	s = strings.TrimSpace(s)
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c < 0x80 && c != '\t' && (c != ' ' || s[i+1] != ' ')
	}
	if plain {
		return s
	}
	folded, _ := fold(s)
	return strings.Join(strings.Fields(folded), " ")
}
