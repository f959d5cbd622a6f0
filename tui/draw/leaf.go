package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// Sizes in bytes from which a growing paragraph is drawn in parts, so that it is not laid out again
// and again: from someParagraph on, the part that later text cannot change; from longParagraph on,
// in any case.
const (
	someParagraph = 512
	longParagraph = 2 << 10
)

// leafDrawer draws Markdown blocks with text; the last one may still grow.
type leafDrawer struct {
	theme *Theme
	bare  bool // replace lines by words
	w     int
	rows  []Row
	leaf  leaf
	trial bool // the result is temporary
	// remarks are the program's; the text marks their places.
	remarks []Remark
}

// leaf tracks how far the open block is drawn.
type leaf struct {
	begun  bool
	marked bool // its list marks are drawn
	wait   int  // paragraph length in bytes before the next attempt to cut
	code   codeLayout
	table  *tableLayout
}

// begin draws the empty row before a block. Code needs none, because it has a line at its side.
func (d *leafDrawer) begin(b *markdown.Block) {
	if d.leaf.begun {
		return
	}
	if b.Gap && len(d.rows) > 0 && (d.bare || b.Kind != markdown.Code) {
		d.rows = append(d.rows, d.margin(b.In, gapMargin))
	}
	d.leaf = leaf{begun: true}
}

// progress draws the final part of an open block and returns how many bytes may be dropped. whole
// means that its last line is complete.
func (d *leafDrawer) progress(b *markdown.Block, whole bool) int {
	d.begin(b)
	switch b.Kind {
	case markdown.Paragraph:
		if !d.trial && len(b.Text) >= max(d.leaf.wait, someParagraph) {
			return d.paragraph(b, Plain, false)
		}
	case markdown.Code, markdown.HTML:
		return d.codeLines(b, whole)
	case markdown.Table:
		return d.table(b, false)
	}
	return 0
}

// finish completes a block.
func (d *leafDrawer) finish(b *markdown.Block) {
	d.begin(b)
	switch b.Kind {
	case markdown.Paragraph:
		if len(b.Text) > 0 {
			d.paragraph(b, Plain, true)
		}
	case markdown.Heading:
		d.paragraph(b, headingStyle(b.Level), true)
	case markdown.Code, markdown.HTML:
		d.code(b)
	case markdown.Table:
		d.table(b, true)
	case markdown.Rule:
		d.rule(b)
	case markdown.Empty:
		d.rows = append(d.rows, d.margins(b).First)
	}
	d.leaf = leaf{}
}

func headingStyle(level int) Style {
	switch level {
	case 1:
		return Heading | Underlined
	case 2:
		return Heading
	}
	return Plain | Strong
}

func (d *leafDrawer) rule(b *markdown.Block) {
	m := d.margins(b)
	p := d.theme.Pen().Row(m.First)
	if d.bare {
		d.rows = append(d.rows, p.Fixed(Plain, "---").Done().Fit(d.w))
		return
	}
	d.rows = append(d.rows, p.Rule(Border, d.w).Done())
}

// part selects the row that a margin is for.
type part uint8

const (
	firstMargin part = iota // a block's first row, with new list marks
	restMargin
	gapMargin // an empty row
)

// margins returns the current block's margins.
func (d *leafDrawer) margins(b *markdown.Block) Margins {
	m := Margins{First: d.margin(b.In, restMargin), Continuation: d.margin(b.In, restMargin)}
	if !d.leaf.marked {
		m.First = d.margin(b.In, firstMargin)
		d.leaf.marked = true
	}
	return m
}

// margin draws the quotes and list items around a block. If they exceed half the width, it omits
// the outer ones.
func (d *leafDrawer) margin(in []markdown.Container, what part) Row {
	for {
		p := d.theme.Pen()
		for i, c := range in {
			d.container(p, c, i, what)
		}
		if p.Width() <= d.w/2 || len(in) == 0 {
			if what == gapMargin && strings.TrimSpace(ansi.Strip(p.b.String())) == "" {
				return Row{}
			}
			return p.Done()
		}
		in = in[1:]
	}
}

func (d *leafDrawer) container(p *Pen, c markdown.Container, depth int, what part) {
	switch {
	case c.Quote && what == gapMargin && c.Fresh:
	case c.Quote && d.bare:
		p.Fixed(Plain, "> ")
	case c.Quote:
		p.Fixed(Border, "▎ ")
	case what == firstMargin && c.Fresh:
		p.Put(Accent, safeterm.Clean(d.mark(c, depth)))
	case what != gapMargin || !c.Fresh:
		p.Pad(p.Width() + d.theme.counts.cells(d.mark(c, depth)))
	}
}

func (d *leafDrawer) mark(c markdown.Container, depth int) string {
	switch {
	case c.Number >= 0:
		return c.Mark() + " "
	case d.bare:
		return "- "
	case depth%2 == 1:
		return "◦ "
	}
	return "• "
}
