package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// The beginning of a paragraph that never ends is drawn for good, so that it is not laid out again
// and again: from someParagraph bytes on what nothing that follows can change, from longParagraph
// bytes on in any case.
const (
	someParagraph = 512
	longParagraph = 2 << 10
)

// leafDrawer draws blocks of Markdown that hold text, the last of them while it grows.
type leafDrawer struct {
	theme *Theme
	bare  bool // words instead of lines
	w     int
	rows  []Row
	leaf  leaf
	trial bool // what is drawn is drawn again soon
	// remarks are ours; the text has their places.
	remarks []Remark
}

// leaf is how far the open block is drawn.
type leaf struct {
	begun  bool
	marked bool // the marks of its items are drawn
	wait   int  // how long a paragraph must be before a cut is tried again
	code   codeLayout
	table  *tableLayout
}

// begin draws the empty row before a block; code has a line at its side.
func (d *leafDrawer) begin(b *markdown.Block) {
	if d.leaf.begun {
		return
	}
	if b.Gap && len(d.rows) > 0 && (d.bare || b.Kind != markdown.Code) {
		d.rows = append(d.rows, d.margin(b.In, gapMargin))
	}
	d.leaf = leaf{begun: true}
}

// progress draws what of an open block will not change; it returns how many bytes of its text are
// of no use any more. Whole says that its last line is complete.
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

// finish draws what is left of a block.
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

// part says for what a margin is drawn.
type part uint8

const (
	firstMargin part = iota // the first row of a block: with the marks of items that begin
	restMargin
	gapMargin // an empty row
)

// margins are those of the block that is drawn.
func (d *leafDrawer) margins(b *markdown.Block) Margins {
	m := Margins{First: d.margin(b.In, restMargin), Rest: d.margin(b.In, restMargin)}
	if !d.leaf.marked {
		m.First = d.margin(b.In, firstMargin)
		d.leaf.marked = true
	}
	return m
}

// margin draws the quotes and items around a block. Where they take more than half of the width,
// the outer ones are left out.
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
