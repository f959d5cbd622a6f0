package textedit

import (
	"fmt"
	"strings"
)

const (
	similarity   = 0.9       // of the characters must agree
	similarWork  = 200 << 20 // table cells computed before the step gives up: about half a second
	similarShort = 16        // characters below which likeness says nothing
)

// similar compares whole blocks of the same number of lines by edit distance, without outer white space. It never
// anchors on first and last lines alone: every line counts.
func similar(d *doc, e Edit) (found []Span) {
	b := blockOf(e.Old)
	rows := d.lines()
	want := strings.Join(trimmed(b.lines), "\n")
	if len(want) < similarShort || len(b.lines) > len(rows) {
		return nil
	}
	limit := int(float64(len(want)) * (1 - similarity))
	budget := similarWork
	w := newWindow(d, len(b.lines), want)
	for at := 0; at+len(b.lines) <= len(rows); at++ {
		w.move(at)
		if w.apart() > limit {
			continue
		}
		have := w.text(at)
		if budget -= (2*limit + 1) * len(have); budget < 0 {
			return nil
		}
		if dist, ok := within(want, have, limit); ok {
			s := d.blockSpan(at, b, e)
			share := 100 - 100*dist/max(len(want), len(have))
			s.Step = Step(fmt.Sprintf("%s (%d %%)", Similar, share))
			found = append(found, s)
		}
	}
	return found
}

// window slides over blocks of lines and keeps how often each byte value occurs more or less than wanted. That gives a
// cheap lower bound of the edit distance, which rules nearly all blocks out.
type window struct {
	d       *doc
	size    int
	balance [256]int
	at      int
}

func newWindow(d *doc, size int, want string) *window {
	w := &window{d: d, size: size, at: -1}
	for i := range len(want) {
		w.balance[want[i]]--
	}
	w.balance['\n'] += size - 1
	return w
}

func (w *window) line(i int) string {
	r := w.d.rows[i]
	return strings.TrimSpace(w.d.Text[r.start:r.end])
}

func (w *window) count(i, sign int) {
	line := w.line(i)
	for j := range len(line) {
		w.balance[line[j]] += sign
	}
}

// move goes to the next block.
func (w *window) move(at int) {
	if w.at < 0 {
		for i := range w.size {
			w.count(i, 1)
		}
	} else {
		w.count(w.at, -1)
		w.count(at+w.size-1, 1)
	}
	w.at = at
}

// apart is a number of changes that the block needs at least.
func (w *window) apart() int {
	more, less := 0, 0
	for _, n := range w.balance {
		if n > 0 {
			more += n
		} else {
			less -= n
		}
	}
	return max(more, less)
}

func (w *window) text(at int) string {
	lines := make([]string, w.size)
	for i := range lines {
		lines[i] = w.line(at + i)
	}
	return strings.Join(lines, "\n")
}

// within gives the edit distance in bytes if it is at most limit. Only the band of the table that can matter is computed.
func within(a, b string, limit int) (int, bool) {
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
