package textedit

import (
	"fmt"
	"strings"
)

const (
	similarity   = 0.9 // of the characters of the paired lines must agree
	similarShort = 16  // characters below which likeness says nothing
	similarNear  = 0.5 // of the best possible score, from which a place may be the one that was meant
	similarSlack = 3   // one line left out or too many for so many lines
)

// similar lays the copy line by line beside the file: lines may be left out, too many, or
// miscopied. It never anchors on first and last lines alone: every line counts. What the model did
// not change stays as the file has it.
func similar(d *doc, e Edit) ([]Span, error) {
	b := blockOf(e.Old)
	best, rivals := d.places(b, similarNear)
	if best == nil || !d.certain(b, *best) {
		return nil, nil
	}
	if row := d.twice(b, *best); row >= 0 {
		return nil, d.doubtful(*best, b, &doubt{row: row, why: "old_string has a line twice in a row, and whether one of the two is this one, miscopied, is not certain"})
	}
	a := linesOf(b.lines)
	for _, r := range rivals {
		if !d.clearlyBetter(a, *best, r) {
			return nil, d.rivals(*best, r, b)
		}
	}
	s, doubt := d.merged(b, e, best.to)
	if doubt != nil {
		return nil, d.doubtful(*best, b, doubt)
	}
	s.Step = d.stepOf(b, *best)
	return []Span{s}, nil
}

// places finds where the copy may have been made, the best first; least is the share of the best
// score.
func (d *doc) places(b block, least float64) (*pairing, []pairing) {
	a := linesOf(b.lines)
	if b.blank() || len(d.Text) > LenientLimit {
		return nil, nil
	}
	rows := d.promising(a)
	file := make([]line, len(rows))
	for i, r := range rows {
		if r >= 0 {
			file[i] = d.line(r)
		} else {
			file[i] = line{key: "\x00", weight: 1e6}
		}
	}
	al := &aligner{a: a, b: file, least: alikeLine, free: true}
	if !al.run() {
		return nil, nil
	}
	found := al.places(least * weigh(a))
	if len(found) == 0 {
		return nil, nil
	}
	for _, p := range found {
		for i, j := range p.to {
			if j >= 0 {
				p.to[i] = rows[j]
			}
		}
	}
	d.withBlanks(b, found[0].to)
	return &found[0], found[1:]
}

// withBlanks pairs the blank lines at the ends of a copy with those beside the place, which say too
// little to be found.
func (d *doc) withBlanks(b block, to []int) {
	rest := func(i, j, step int) {
		for i += step; i >= 0 && i < len(to) && to[i] < 0 && strings.TrimSpace(b.lines[i]) == ""; i += step {
			if j += step; j < 0 || j >= len(d.rows) || !d.line(j).blank() {
				return
			}
			to[i] = j
		}
	}
	first, last := -1, -1
	for i, j := range to {
		if j >= 0 && first < 0 {
			first = i
		}
		if j >= 0 {
			last = i
		}
	}
	if first >= 0 {
		rest(first, to[first], -1)
		rest(last, to[last], 1)
	}
}

// line is a row as alignments see it.
func (d *doc) line(i int) line {
	if d.seen == nil {
		d.seen = make([]line, len(d.lines()))
		for j := range d.seen {
			d.seen[j] = lineOf(d.row(j))
		}
	}
	return d.seen[i]
}

// count is how often the text has the line.
func (d *doc) count(key string) int {
	if d.often == nil {
		d.often = map[string]int{}
		for i := range d.lines() {
			d.often[d.line(i).key]++
		}
	}
	return d.often[key]
}

// promising lists the rows worth comparing: all of them, or in a large file those near a line of
// the copy. A -1 separates stretches.
func (d *doc) promising(a []line) []int {
	rows := make([]int, 0, len(d.lines()))
	if len(a)*len(d.lines()) <= alignCells/2 {
		for i := range d.lines() {
			rows = append(rows, i)
		}
		return rows
	}
	wanted := map[string]bool{}
	for _, l := range a {
		if l.tells() {
			wanted[l.key] = true
		}
	}
	end := 0
	for i := range d.lines() {
		if !wanted[d.line(i).key] {
			continue
		}
		from := max(end, i-2*len(a))
		if from > end {
			rows = append(rows, -1)
		}
		end = max(end, min(len(d.rows), i+2*len(a)))
		for j := from; j < end; j++ {
			rows = append(rows, j)
		}
	}
	return rows
}

// fit is how well a copy fits its place.
type fit struct {
	paired, extra, missing int // lines with text
	chars, differ          int // of the paired lines
}

func (d *doc) fit(b block, p pairing) (f fit) {
	from, end, _ := p.bounds()
	taken := map[int]bool{}
	for i, j := range p.to {
		a := lineOf(b.lines[i])
		switch {
		case j < 0 && !a.blank():
			f.extra++
		case j >= 0 && !a.blank():
			f.paired++
			key := d.line(j).key
			long := max(len(a.key), len(key))
			f.chars += long
			f.differ += int(float64(long)*(1-likeness(a.key, key, 0.5)) + 0.5)
		}
		taken[j] = true
	}
	for j := from; j < end; j++ {
		if !taken[j] && !d.line(j).blank() {
			f.missing++
		}
	}
	return f
}

// whole reports whether each line is there, apart from look-alikes and white space.
func (f fit) whole() bool { return f.differ+f.extra+f.missing == 0 }

// share is the percentage of characters that agree, rounded down.
func (f fit) share() int { return 100 - (100*f.differ+f.chars-1)/max(1, f.chars) }

// certain reports whether so much of the copy stands in the place that it was made there.
func (d *doc) certain(b block, p pairing) bool {
	f := d.fit(b, p)
	odd := f.extra + f.missing
	switch {
	case f.whole():
		return true
	case f.chars < similarShort, float64(f.differ) > (1-similarity)*float64(f.chars):
		return false
	case odd == 0:
		return true
	}
	return f.paired >= 2 && odd <= max(1, f.paired/similarSlack) && d.bridged(b, p)
}

// twice finds the row of a line that the copy has twice in a row, and the file once where another
// line of its is like it: whether the copy doubles the one or miscopies the other, nothing tells.
// It is -1 where there is none.
func (d *doc) twice(b block, p pairing) int {
	for i := 1; i < len(b.lines); i++ {
		l := lineOf(b.lines[i])
		if !l.tells() || l.key != keyOf(b.lines[i-1]) {
			continue
		}
		for _, j := range []int{p.to[i], p.to[i-1]} {
			if j >= 0 && d.line(j).key != l.key {
				return j
			}
		}
	}
	return -1
}

// bridged reports whether on both sides of every long gap a line stands that the text has once:
// else one side may belong to another place.
func (d *doc) bridged(b block, p pairing) bool {
	var pairs []int
	for i, j := range p.to {
		if j >= 0 && strings.TrimSpace(b.lines[i]) != "" {
			pairs = append(pairs, i)
		}
	}
	sure := func(list []int) bool {
		for _, i := range list {
			if l := d.line(p.to[i]); l.tells() && d.count(l.key) == 1 && keyOf(b.lines[i]) == l.key {
				return true
			}
		}
		return false
	}
	for n := 1; n < len(pairs); n++ {
		missing := 0
		for j := p.to[pairs[n-1]] + 1; j < p.to[pairs[n]]; j++ {
			if !d.line(j).blank() {
				missing++
			}
		}
		if missing > 1 && !(sure(pairs[:n]) && sure(pairs[n:])) {
			return false
		}
	}
	return true
}

// clearlyBetter reports whether no line of the copy fits the rival better, and one that tells fits
// exactly in p alone.
func (d *doc) clearlyBetter(a []line, p, rival pairing) bool {
	like := func(q pairing, i int) float64 {
		if q.to[i] < 0 {
			return 0
		}
		return likeness(a[i].key, d.line(q.to[i]).key, alikeLine)
	}
	told := false
	for i, l := range a {
		if l.blank() {
			continue
		}
		mine, other := like(p, i), like(rival, i)
		if mine < other {
			return false
		}
		told = told || mine == 1 && other < 1 && l.tells()
	}
	return told && d.gaps(p) <= d.gaps(rival)
}

// gaps counts the lines with text in the place that the copy lacks.
func (d *doc) gaps(p pairing) (n int) {
	from, end, _ := p.bounds()
	taken := map[int]bool{}
	for _, j := range p.to {
		taken[j] = true
	}
	for j := from; j < end; j++ {
		if !taken[j] && !d.line(j).blank() {
			n++
		}
	}
	return n
}

// stepOf says what was overlooked.
func (d *doc) stepOf(b block, p pairing) Step {
	f := d.fit(b, p)
	var odd []string
	if f.missing > 0 {
		odd = append(odd, fmt.Sprintf("%d of the file's lines not in old_string", f.missing))
	}
	if f.extra > 0 {
		odd = append(odd, fmt.Sprintf("%d of its lines not in the file", f.extra))
	}
	step := fmt.Sprintf("%s (%d %%)", Similar, f.share())
	if f.differ == 0 {
		step = string(Spaced)
		for i, j := range p.to {
			if j >= 0 && asciiSpaced(b.lines[i]) != asciiSpaced(d.row(j)) {
				step = string(Normalised)
			}
		}
	}
	if len(odd) > 0 {
		step += ", " + strings.Join(odd, ", ")
	}
	return Step(step)
}

// asciiSpaced is a line with each stretch of plain white space as one space.
func asciiSpaced(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' }), " ")
}
