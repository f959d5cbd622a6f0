package transcript

import (
	"adze/tui/draw"
	"adze/tui/ui"
)

// keepAround is how many entries beside the visible ones keep their layout.
const keepAround = 64

// list shows a window on entries. It lays out only what is visible: the position is an entry and a
// row in it, so a hundred thousand rows above cost nothing, also after a change of width.
type list struct {
	entries []entry
	// top is the first visible row, unless follow is set: then the last row is at the bottom.
	top    position
	follow bool
	w, h   int
	laid   [2]int // entries outside of it have no layout
}

type position struct{ entry, row int }

func (l *list) add(e entry) { l.entries = append(l.entries, e) }

// rows lays one entry out and remembers that it did.
func (l *list) rows(d *ui.Drawing, i int) []draw.Row {
	l.laid = [2]int{min(l.laid[0], i), max(l.laid[1], i+1)}
	return l.entries[i].rows(d, l.w)
}

// height of an entry with the empty row before it.
func (l *list) height(d *ui.Drawing, i int) int { return len(l.rows(d, i)) + l.gap(d, i) }

// gap is the empty row before an entry: none before one that has no rows, before a call or the row
// that closes a turn, or below what the user said, which has a ground of its own.
func (l *list) gap(d *ui.Drawing, i int) int {
	if hidden(d, l.entries[i]) {
		return 0
	}
	before := i - 1
	for before >= 0 && hidden(d, l.entries[before]) {
		before--
	}
	if before < 0 || l.entries[i].tight() {
		return 0
	}
	if _, said := l.entries[before].(*userEntry); said {
		return 0
	}
	return 1
}

// hidden reports an entry without rows.
func hidden(d *ui.Drawing, e entry) bool {
	h, ok := e.(interface{ hidden(*ui.Drawing) bool })
	return ok && h.hidden(d)
}

// visible returns the rows in the window, at most h.
func (l *list) visible(d *ui.Drawing, w, h int) []draw.Row {
	l.w, l.h = w, h
	if l.follow {
		l.top = l.lastTop(d)
	} else {
		l.top = l.clamp(d, l.top)
	}
	rows := make([]draw.Row, 0, h)
	at := l.top
	for ; at.entry < len(l.entries) && len(rows) < h; at = (position{at.entry + 1, 0}) {
		rows = l.appendRows(rows, d, at, h)
	}
	l.forgetFar(l.top.entry, at.entry)
	return rows
}

// appendRows appends an entry's rows from at on, until there are h.
func (l *list) appendRows(rows []draw.Row, d *ui.Drawing, at position, h int) []draw.Row {
	skip := at.row
	if l.gap(d, at.entry) == 1 {
		if skip == 0 {
			rows = append(rows, draw.Row{})
		} else {
			skip--
		}
	}
	own := l.rows(d, at.entry)
	own = own[min(skip, len(own)):]
	return append(rows, own[:min(len(own), h-len(rows))]...)
}

// lastTop is the top at which the last row is the last one of the window.
func (l *list) lastTop(d *ui.Drawing) position {
	return l.up(d, position{len(l.entries), 0}, l.h)
}

// up moves a position n rows towards the start.
func (l *list) up(d *ui.Drawing, p position, n int) position {
	for n > p.row {
		if p.entry == 0 {
			return position{}
		}
		n -= p.row
		p.entry--
		p.row = l.height(d, p.entry)
	}
	p.row -= n
	return p
}

// down moves a position n rows towards the end.
func (l *list) down(d *ui.Drawing, p position, n int) position {
	for p.entry < len(l.entries) {
		rest := l.height(d, p.entry) - p.row
		if n < rest {
			return position{p.entry, p.row + n}
		}
		n -= rest
		p = position{p.entry + 1, 0}
	}
	return p
}

// clamp mends a position whose entry became shorter, and follows again when the end is in sight.
func (l *list) clamp(d *ui.Drawing, p position) position {
	if p.entry >= len(l.entries) {
		l.follow = true
		return l.lastTop(d)
	}
	p.row = min(p.row, max(l.height(d, p.entry)-1, 0))
	last := l.lastTop(d)
	if !before(p, last) {
		l.follow = true
		return last
	}
	return p
}

func before(a, b position) bool {
	return a.entry < b.entry || a.entry == b.entry && a.row < b.row
}

// Scroll moves the window by n rows, up when negative. Reaching the end follows it from then on.
func (l *list) Scroll(d *ui.Drawing, n int) {
	if l.w == 0 {
		return
	}
	if n < 0 {
		p := l.up(d, l.top, -n)
		if l.follow = !before(p, l.lastTop(d)); !l.follow {
			l.top = p
		}
		return
	}
	if !l.follow {
		l.top = l.clamp(d, l.down(d, l.top, n))
	}
}

// ToStart shows the beginning, ToEnd the end, and follows it.
func (l *list) ToStart() { l.top, l.follow = position{}, false }
func (l *list) ToEnd()   { l.follow = true }

// ForgetAll drops every layout.
func (l *list) ForgetAll() {
	for i := l.laid[0]; i < min(l.laid[1], len(l.entries)); i++ {
		l.entries[i].forget()
	}
	l.laid = [2]int{}
}

// forgetFar drops layouts that are far from the window from..to.
func (l *list) forgetFar(from, to int) {
	keep := [2]int{max(from-keepAround, 0), min(to+keepAround, len(l.entries))}
	for i := l.laid[0]; i < min(l.laid[1], len(l.entries)); i++ {
		if i < keep[0] || i >= keep[1] {
			l.entries[i].forget()
		}
	}
	l.laid = keep
}
