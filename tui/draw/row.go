// Package draw turns text into rows of a terminal screen.
//
// The one rule: a [Row] is made by this package alone, and only out of [safeterm.Text] and a
// [Style]; so what a pane returns can neither command the terminal nor be wider than it says.
//
// Start reading here: Row, Pen. Then wrap.go (lines to rows), prose.go (the model's Markdown, as it
// streams) with leaf.go, paragraph.go, code.go and table.go, block.go (what tools show),
// diff.go, syntax.go (highlighted code).
//
// It has more than twelve files because only it may make a Row; what can do without one is in the
// packages below it: markdown reads the text, highlight tells the parts of code apart.
//
// Known limits: a line break in a paragraph is kept when its line is short (see markdown.Inline).
// Emphasis across more than 2 KB of a paragraph stays as it is written. A table's columns are those
// of its first 64 rows. Links show their address as text and are not OSC 8 links: with those a text
// could lead to where it does not say. Code is highlighted when it is finished and has up to 64 KB;
// in the changed lines of a diff colour says what came and went, so the language shows by bold and
// italics alone. Terminals that count characters disagree about some emoji, so a row never relies
// on its predecessor's end.
package draw

import (
	"strings"

	"adze/internal/text/safeterm"
)

// tabWidth is the distance of tab stops. Source code is what is mostly shown, and eight columns
// waste half of a narrow pane.
const tabWidth = 4

const reset = "\x1b[m"

// Row is one row of the screen: styled, safe, of known width in cells.
type Row struct {
	s string
	w int
	c Cells // by which w is counted
}

// String is the row with its attributes, ready for the terminal.
func (r Row) String() string { return r.s }

// Width is how many cells the row takes.
func (r Row) Width() int { return r.w }

// Fit cuts the row to w cells, marking the cut.
func (r Row) Fit(w int) Row {
	if r.w <= w {
		return r
	}
	s, cut := r.c.shortened(r.s, w)
	return Row{s, cut, r.c}
}

// Pen builds one row. A Pen belongs to one row; the zero Pen of a Theme is made by Theme.Pen.
type Pen struct {
	theme *Theme
	b     strings.Builder
	w     int
}

// Pen starts a row.
func (t *Theme) Pen() *Pen { return &Pen{theme: t} }

// Put writes text on the row; a newline in it becomes a space, a tab goes to the next stop.
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

// Fixed writes a constant of ours.
func (p *Pen) Fixed(s Style, c string) *Pen { return p.Put(s, safeterm.Clean(c)) }

// Row writes another row behind what is there.
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

// Fill goes on with the ground of a style up to column w; a theme without that ground writes
// nothing.
func (p *Pen) Fill(s Style, w int) *Pen {
	if n := w - p.w; n > 0 && p.theme.on[s.ground()] != "" {
		p.Put(s&grounds, safeterm.Clean(strings.Repeat(" ", n)))
	}
	return p
}

// Grounded puts rows of one width on the ground of a style.
func (t *Theme) Grounded(rows []Row, s Style, w int) {
	if t.on[s.ground()] == "" {
		return
	}
	for i, r := range rows {
		rows[i] = t.Pen().Row(r).Fill(s, w).Done()
	}
}

// Rule fills with a horizontal line up to column w.
func (p *Pen) Rule(s Style, w int) *Pen {
	if n := w - p.w; n > 0 {
		p.Put(s, safeterm.Clean(strings.Repeat("─", n)))
	}
	return p
}

// Width is how many cells are written.
func (p *Pen) Width() int { return p.w }

// Done is the finished row.
func (p *Pen) Done() Row { return Row{p.b.String(), p.w, p.theme.counts} }

// Line is a row of one style.
func (t *Theme) Line(s Style, text safeterm.Text) Row { return t.Pen().Put(s, text).Done() }

// asciiWidth is the width of text without tabs and newlines, when it is all ASCII.
func asciiWidth(s string) (int, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 || s[i] < ' ' {
			return 0, false
		}
	}
	return len(s), true
}

// flat replaces newlines by spaces and tabs by as many spaces as lead to the next stop; col is
// where s begins.
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
