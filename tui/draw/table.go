package draw

import (
	"bytes"
	"strings"

	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// Limits for the first table rows, which decide the column widths, so that a growing table is not
// laid out again and again.
const (
	tableRows  = 64
	tableBytes = 8 << 10
	longColumn = 20 // minimum column width for such a table, if it fits
)

// tableLayout tracks how far a table is drawn.
type tableLayout struct {
	heads  [][]Span
	align  []markdown.Align
	widths []int // nil if each cell is a separate line
	ruled  bool  // cells wrap, so rows need lines between them
	next   int   // where the next row begins
	rows   int   // drawn rows
}

// table draws rows once the widths are known. It returns how many bytes are drawn.
func (d *leafDrawer) table(b *markdown.Block, whole bool) int {
	if d.leaf.table == nil {
		if !whole && bytes.Count(b.Text, []byte("\n")) < tableRows && len(b.Text) < tableBytes {
			return 0
		}
		d.tableHead(b, !whole)
	}
	t := *d.leaf.table // a trial must not change the layout
	d.leaf.table = &t
	for t.next < len(b.Text) {
		line, _, _ := strings.Cut(string(b.Text[t.next:]), "\n")
		row := d.cells(line, len(t.align), Plain)
		if t.widths == nil {
			d.record(b, row)
		} else {
			if t.ruled && t.rows > 0 {
				d.tableRule(b)
			}
			d.tableRow(b, row)
		}
		t.next += len(line) + 1
		t.rows++
	}
	n := min(t.next, len(b.Text))
	t.next -= n
	return n
}

// tableHead computes the column widths and draws the header. more means that rows will follow.
func (d *leafDrawer) tableHead(b *markdown.Block, more bool) {
	lines := strings.Split(string(b.Text), "\n")
	head := d.cells(lines[0], len(b.Align), Plain|Strong)
	t := &tableLayout{align: b.Align, next: len(lines[0]) + 1}
	for _, c := range head {
		t.heads = append(t.heads, c[0].spans)
	}
	d.leaf.table = t
	columns := make([]column, len(head))
	for _, line := range lines {
		for i, c := range d.cells(line, len(columns), Plain) {
			columns[i].fit(c, d.theme.counts)
		}
	}
	for i := range columns {
		if more {
			columns[i].whole = max(columns[i].whole, longColumn)
		}
	}
	if room := d.w - d.margin(b.In, restMargin).w - len(columnGap)*(len(columns)-1); !d.bare {
		t.widths, t.ruled = share(columns, room)
	}
	switch {
	case t.widths != nil:
		d.tableRow(b, head)
		d.tableRule(b)
	case len(lines) == 1: // without rows, nothing else names the columns
		for _, c := range head {
			d.tableLine(b, c[0].spans)
		}
	}
}

// columnGap is as wide as the separator between columns.
const columnGap = "   "

// tableCell is a cell's content; line breaks split it.
type tableCell []inlineLine

// cells parses a row into exactly n cells.
func (d *leafDrawer) cells(line string, n int, base Style) []tableCell {
	row := make([]tableCell, n)
	for i, text := range markdown.Cells(line) {
		if i < n {
			row[i], _ = d.inline(text, base)
		}
	}
	for i := range row {
		if row[i] == nil {
			row[i] = tableCell{{}}
		}
	}
	return row
}

// column holds the width that a column's longest text and longest word need.
type column struct{ whole, word int }

func (c *column) fit(cell tableCell, by Cells) {
	for _, line := range cell {
		text := join(line.spans).text
		c.whole = max(c.whole, by.cells(text))
		for word := range strings.FieldsSeq(text) {
			c.word = max(c.word, by.cells(word))
		}
	}
}

// wideWord is the longest word, in cells, that a column must not break. If the columns do not fit,
// the table is drawn as lines.
const wideWord = 14

// share divides room between columns; widths is nil if they do not fit. narrow reports that some
// need more room.
func share(columns []column, room int) (widths []int, narrow bool) {
	widths = make([]int, len(columns))
	for i, c := range columns {
		widths[i] = max(min(c.word, wideWord), 1)
		room -= widths[i]
	}
	if room < 0 {
		return nil, false
	}
	return widths, !grow(widths, columns, room)
}

// grow distributes the remaining room, narrow columns first, and reports whether all columns have
// enough.
func grow(widths []int, columns []column, left int) bool {
	for {
		want := 0
		for i, c := range columns {
			if widths[i] < c.whole {
				want++
			}
		}
		if want == 0 {
			return true
		}
		if left < want {
			return false
		}
		each := left / want
		for i, c := range columns {
			if n := min(each, c.whole-widths[i]); n > 0 {
				widths[i] += n
				left -= n
			}
		}
	}
}

// tableRow draws a row with its cells side by side.
func (d *leafDrawer) tableRow(b *markdown.Block, row []tableCell) {
	t := d.leaf.table
	height := 1
	drawn := make([][]Row, len(row))
	for i, c := range row {
		for _, line := range c {
			drawn[i] = d.theme.Wrap(drawn[i], t.widths[i], Margins{}, line.spans...)
		}
		height = max(height, len(drawn[i]))
	}
	m := d.margins(b)
	for y := range height {
		p := d.theme.Pen().Row(m.First)
		m.First = m.Continuation
		for i, width := range t.widths {
			if i > 0 {
				p.Fixed(Border, " │ ")
			}
			begin := p.Width()
			if y < len(drawn[i]) {
				p.Pad(begin + indent(t.align[i], width-drawn[i][y].w)).Row(drawn[i][y])
			}
			if i < len(t.widths)-1 {
				p.Pad(begin + width)
			}
		}
		d.rows = append(d.rows, p.Done().Fit(d.w))
	}
}

// indent returns the free cells at the left.
func indent(a markdown.Align, free int) int {
	switch a {
	case markdown.Right:
		return free
	case markdown.Center:
		return free / 2
	}
	return 0
}

func (d *leafDrawer) tableRule(b *markdown.Block) {
	p := d.theme.Pen().Row(d.margins(b).First)
	for i, width := range d.leaf.table.widths {
		if i > 0 {
			p.Fixed(Border, "─┼─")
		}
		p.Rule(Border, p.Width()+width)
	}
	d.rows = append(d.rows, p.Done().Fit(d.w))
}

// record draws a row as one line per cell: "column: value".
func (d *leafDrawer) record(b *markdown.Block, row []tableCell) {
	t := d.leaf.table
	if t.rows > 0 {
		d.rows = append(d.rows, d.margin(b.In, gapMargin))
	}
	for i, c := range row {
		if len(c) == 1 && join(c[0].spans).text == "" {
			continue
		}
		var spans []Span
		if head := t.heads[i]; len(head) > 0 {
			spans = append(append(spans, head...), Span{Plain | Strong, safeterm.Fixed(": ")})
		}
		for k, line := range c {
			if k > 0 {
				spans = append(spans, Span{Plain, safeterm.Fixed(" ")})
			}
			spans = append(spans, line.spans...)
		}
		d.tableLine(b, spans)
	}
}

func (d *leafDrawer) tableLine(b *markdown.Block, spans []Span) {
	m := d.margins(b)
	m.Continuation = d.theme.Pen().Row(m.Continuation).Pad(m.Continuation.w + 2).Done()
	d.rows = d.theme.Wrap(d.rows, d.w, m, spans...)
}
