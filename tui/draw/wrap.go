package draw

import (
	"strings"

	"adze/internal/text/safeterm"
)

// Span is text in one style.
type Span struct {
	Style Style
	Text  safeterm.Text
}

// Margins are drawn left of a wrapped line's rows.
type Margins struct {
	First, Continuation Row
	// Hard breaks anywhere, not only between words and keeps every space: code and output.
	Hard bool
}

// Wrap appends a line's rows, at most w cells wide, to dst. An empty line is one row.
func (t *Theme) Wrap(dst []Row, w int, m Margins, spans ...Span) []Row {
	line := join(spans)
	if max(m.First.w, m.Continuation.w) >= w { // no room for both: the text matters more
		m.First, m.Continuation = Row{}, Row{}
	}
	first, rest := max(w-m.First.w, 1), max(w-m.Continuation.w, 1)
	margin := m.First
	t.counts.breaks(line.text, first, rest, m.Hard, func(from, to int) {
		p := t.Pen().Row(margin)
		line.put(p, from, to)
		dst = append(dst, p.Done())
		margin = m.Continuation
	})
	return dst
}

// styledLine is a line with the end of each style. Its text comes from safeterm.Text values and is
// safe.
type styledLine struct {
	text string
	runs []run
}

type run struct {
	end   int
	style Style
}

func join(spans []Span) styledLine {
	var line styledLine
	if len(spans) == 1 {
		line.text = flat(spans[0].Text.String(), 0)
		line.runs = []run{{len(line.text), spans[0].Style}}
		return line
	}
	var b strings.Builder
	for _, s := range spans {
		text := s.Text.String()
		if strings.IndexByte(text, '\t') >= 0 {
			text = flat(text, ByCharacter.cells(b.String()))
		}
		b.WriteString(flat(text, 0))
		if last := len(line.runs) - 1; last >= 0 && line.runs[last].style == s.Style {
			line.runs[last].end = b.Len()
			continue
		}
		line.runs = append(line.runs, run{b.Len(), s.Style})
	}
	line.text = b.String()
	line.align()
	return line
}

// align moves style boundaries to character boundaries: a combining mark may have its own span.
func (l styledLine) align() {
	pos := 0
	for i, r := range l.runs {
		if r.end >= len(l.text) || l.text[r.end] < 0x80 {
			continue
		}
		for pos < r.end {
			n, _ := ByCharacter.cluster(l.text, pos)
			pos += n
		}
		l.runs[i].end = pos
	}
}

// put writes the bytes from..to with their styles.
func (l styledLine) put(p *Pen, from, to int) {
	for _, r := range l.runs {
		if from >= to {
			return
		}
		if end := min(r.end, to); end > from {
			p.Put(r.style, safeterm.Clean(l.text[from:end]))
			from = end
		}
	}
}

// breaks calls yield with each row's byte range, at least once. The first row has width first, the
// others rest. Spaces at a soft break belong to no row.
func (c Cells) breaks(s string, first, rest int, hard bool, yield func(from, to int)) {
	width := first
	from := 0
	for {
		to, next := c.rowEnd(s, from, width, hard)
		yield(from, to)
		if next >= len(s) {
			return
		}
		from, width = next, rest
	}
}

// rowEnd returns where the row that starts at from ends and where the next one starts.
func (c Cells) rowEnd(s string, from, width int, hard bool) (to, next int) {
	col, pos := 0, from
	soft, softNext := -1, -1 // last position between words
	for pos < len(s) {
		n, w := c.cluster(s, pos)
		if col+w > width && pos > from {
			break
		}
		switch {
		case s[pos] == ' ':
			if strings.TrimLeft(s[from:pos], " ") != "" { // never break inside the indentation
				soft, softNext = pos, pos+1
			}
		case s[pos] == '-' || w == 2: // scripts with wide characters break anywhere
			soft, softNext = pos+n, pos+n
		}
		col += w
		pos += n
	}
	switch {
	case pos >= len(s):
		return len(s), len(s)
	case hard:
		return pos, pos
	case s[pos] == ' ':
		return pos, skipSpaces(s, pos)
	case soft > from:
		return soft, skipSpaces(s, softNext)
	}
	return pos, pos
}

func skipSpaces(s string, i int) int {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i
}

// Breaks returns the byte range for each row, for editors that place a cursor.
func (c Cells) Breaks(t safeterm.Text, w int) [][2]int {
	var rows [][2]int
	c.breaks(t.String(), w, w, true, func(from, to int) { rows = append(rows, [2]int{from, to}) })
	return rows
}
