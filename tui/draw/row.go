// Package draw turns text into rows of a terminal screen.
//
// The one rule: only this package makes a [Row], and only from [safeterm.Text] and a [Style]; so a
// pane's rows cannot control the terminal and their widths are correct.
//
// Start reading at Row and Pen. Then wrap.go (lines to rows), prose.go (streamed Markdown) with
// leaf.go, paragraph.go, code.go and table.go, block.go (tool results), diff.go, syntax.go
// (highlighted code).
//
// It has more than twelve files because only it may make a Row; code without that need is in the
// packages below: markdown parses, highlight splits code into tokens.
//
// Known limits: a line break in a paragraph is kept after a short line (see markdown.Inline).
// Emphasis longer than 2 KB is not parsed. A table's column widths follow from its first 64 rows.
// Links show their address as text, not by OSC 8, which could hide the target. Code is highlighted
// when it is complete, up to 64 KB; in a diff, color marks changes, so changed lines show syntax
// only by bold and italics. Terminals that count characters disagree about some emoji, so a row
// never depends on where the previous row ended.
package draw

import (
	"strings"

	"adze/internal/text/safeterm"
)

// tabWidth is the distance between tab stops. Most content is source code, and eight columns waste
// half a narrow pane.
const tabWidth = 4

const reset = "\x1b[m"

// Row is one row of the screen: styled, safe, with a known width in cells.
type Row struct {
	s string
	w int
	c Cells // method used for w
}

// String returns the row with its attributes, ready for the terminal.
func (r Row) String() string { return r.s }

// Width returns the row's width in cells.
func (r Row) Width() int { return r.w }

// Fit truncates the row to w cells, with an ellipsis.
func (r Row) Fit(w int) Row {
	if r.w <= w {
		return r
	}
	s, cut := r.c.shortened(r.s, w)
	return Row{s, cut, r.c}
}

// Pen builds one row. Theme.Pen creates it.
type Pen struct {
	theme *Theme
	b     strings.Builder
	w     int
}

// Pen starts a row.
func (t *Theme) Pen() *Pen { return &Pen{theme: t} }

// Put writes text; a newline becomes a space, and a tab goes to the next stop.
func (p *Pen) Put(s Style, t safeterm.Text) *Pen {
	text := t.String()
	if text == "" {
		return p
	}
	w, ascii := asciiWidth(text)
	if !ascii {
		text = flat(text, p.w)
		w = p.theme.counts.cells(text)
	}
	sgr := p.theme.start(s)
	p.b.WriteString(sgr)
	p.b.WriteString(text)
	if sgr != "" {
		p.b.WriteString(reset)
	}
	p.w += w
	return p
}

// Fixed writes a constant string.
func (p *Pen) Fixed(s Style, c string) *Pen { return p.Put(s, safeterm.Clean(c)) }

// Row appends another row.
func (p *Pen) Row(r Row) *Pen {
	p.b.WriteString(r.s)
	p.w += r.w
	return p
}

// Pad fills with spaces up to column w.
func (p *Pen) Pad(w int) *Pen {
	if n := w - p.w; n > 0 {
		p.b.WriteString(strings.Repeat(" ", n))
		p.w = w
	}
	return p
}

// Fill continues a style's background up to column w; it writes nothing if the theme has none.
func (p *Pen) Fill(s Style, w int) *Pen {
	if n := w - p.w; n > 0 && p.theme.backgrounds[s.backgroundIndex()] != "" {
		p.Put(s&grounds, safeterm.Clean(strings.Repeat(" ", n)))
	}
	return p
}

// Grounded extends rows to width w with a style's background.
func (t *Theme) Grounded(rows []Row, s Style, w int) {
	if t.backgrounds[s.backgroundIndex()] == "" {
		return
	}
	for i, r := range rows {
		rows[i] = t.Pen().Row(r).Fill(s, w).Done()
	}
}

// Rule draws a horizontal line up to column w.
func (p *Pen) Rule(s Style, w int) *Pen {
	if n := w - p.w; n > 0 {
		p.Put(s, safeterm.Clean(strings.Repeat("─", n)))
	}
	return p
}

// Width returns the width so far, in cells.
func (p *Pen) Width() int { return p.w }

// Done returns the finished row.
func (p *Pen) Done() Row { return Row{p.b.String(), p.w, p.theme.counts} }

// Line returns a row in one style.
func (t *Theme) Line(s Style, text safeterm.Text) Row { return t.Pen().Put(s, text).Done() }

// asciiWidth returns the width of s and true if s is printable ASCII.
func asciiWidth(s string) (int, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 || s[i] < ' ' {
			return 0, false
		}
	}
	return len(s), true
}

// flat replaces newlines by spaces and expands tabs; col is the column of s.
func flat(s string, col int) string {
	if !strings.ContainsAny(s, "\t\n") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, "\t\n")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		col += ByCharacter.cells(s[:i])
		n := 1
		if s[i] == '\t' {
			n = tabWidth - col%tabWidth
		}
		b.WriteString(strings.Repeat(" ", n))
		col += n
		s = s[i+1:]
	}
}
