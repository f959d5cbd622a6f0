package transcript

import (
	"adze/tui/draw"
	"adze/tui/ui"
)

// keepAround is how many entries before and after the visible ones keep their layout.
const keepAround = 64

// list is a window on entries. It lays out only the visible ones. Its position is an entry and a
// row within it, so a hundred thousand rows above cost nothing, even after the width changes.
type list struct {
	entries []entry
	// top is the first visible row. With follow, the last row is at the bottom instead.
	top         position
	follow      bool
	w, h        int
	layoutRange [2]int // entries with a layout
	// head, if not nil, draws the rows above the first entry.
	head func(t *draw.Theme, w int) []draw.Row
}

type position struct{ entry, row int }

func (l *list) add(e entry) { l.entries = append(l.entries, e) }

// rows lays out entry i and records it in laid.
func (l *list) rows(d *ui.Drawing, i int) []draw.Row {
	l.layoutRange = [2]int{min(l.layoutRange[0], i), max(l.layoutRange[1], i+1)}
	rows := l.entries[i].rows(d, l.w)
	if i == 0 && l.head != nil {
		return append(append(l.head(d.Theme, l.w), draw.Row{}), rows...)
	}
	return rows
}

// height returns an entry's rows, including the empty row before it.
func (l *list) height(d *ui.Drawing, i int) int { return len(l.rows(d, i)) + l.gap(d, i) }

// gap returns how many empty rows precede an entry, 0 or 1. A hidden or tight entry has none, and
// neither has an entry below a user message, which has its own background.
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

// hidden reports whether an entry has no rows.
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

// appendRows appends an entry's rows, beginning at position at, up to h rows.
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

// lastTop returns the top position for a window at the end.
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

// clamp corrects a position after its entry became shorter, and follows again at the end.
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

// Scroll moves the window by n rows, up if negative. At the end it follows new rows again.
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

// ToStart shows the beginning; ToEnd shows the end and follows it.
func (l *list) ToStart() { l.top, l.follow = position{}, false }
func (l *list) ToEnd()   { l.follow = true }

// ForgetAll drops every layout.
func (l *list) ForgetAll() {
	for i := l.layoutRange[0]; i < min(l.layoutRange[1], len(l.entries)); i++ {
		l.entries[i].forget()
	}
	l.layoutRange = [2]int{}
}

// forgetFar drops layouts far from the window from..to.
func (l *list) forgetFar(from, to int) {
	keep := [2]int{max(from-keepAround, 0), min(to+keepAround, len(l.entries))}
	for i := l.layoutRange[0]; i < min(l.layoutRange[1], len(l.entries)); i++ {
		if i < keep[0] || i >= keep[1] {
			l.entries[i].forget()
		}
	}
	l.layoutRange = keep
}
