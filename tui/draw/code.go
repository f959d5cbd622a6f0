package draw

import (
	"bytes"
	"strings"

	"adze/internal/text/highlight"
	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// codeLayout tracks how far an open code block is drawn.
type codeLayout struct {
	begun  bool
	row    int  // index where its rows begin
	marked bool // the list marks are drawn above it
	long   bool // too long to highlight; its beginning is gone
	lines  int  // drawn lines
	next   int  // where the next line begins
	within bool // the next line is partly drawn
}

// codeBegin writes the language above the code if the theme has no line beside it.
func (d *leafDrawer) codeBegin(b *markdown.Block) {
	if d.leaf.code.begun {
		return
	}
	if label := language(b.Info); d.bare && label != "" {
		p := d.theme.Pen().Row(d.margin(b.In, restMargin)).Put(Plain, safeterm.Name(label)).Fixed(Plain, " code:")
		d.rows = append(d.rows, p.Done().Fit(d.w))
	}
	d.leaf.code = codeLayout{begun: true, row: len(d.rows), marked: d.leaf.marked}
}

// language returns the first word in a fence's info string.
func language(info string) string {
	if i := strings.IndexAny(info, " \t{,:"); i >= 0 {
		return info[:i]
	}
	return info
}

func (d *leafDrawer) codeMargins(b *markdown.Block) Margins {
	m := d.margins(b)
	m.Hard = true
	if b.Kind == markdown.HTML {
		return m
	}
	p, q := d.theme.Pen().Row(m.First), d.theme.Pen().Row(m.Continuation)
	if d.bare {
		m.First, m.Continuation = p.Fixed(Plain, "    ").Done(), q.Fixed(Plain, "    ").Done()
		return m
	}
	m.First, m.Continuation = p.Fixed(Border, "│ ").Done(), q.Fixed(Border, "│ ").Done()
	return m
}

// codeLines draws complete lines and a partial line's full rows. It returns how many bytes may be
// dropped: drawn text that is too long to highlight.
func (d *leafDrawer) codeLines(b *markdown.Block, whole bool) int {
	d.codeBegin(b)
	c := &d.leaf.code
	total := b.Lines
	if !whole {
		total--
	}
	for ; c.lines < total; c.lines++ {
		line, _, _ := bytes.Cut(b.Text[min(c.next, len(b.Text)):], []byte("\n"))
		if !c.within || len(line) > 0 {
			d.codeLine(b, string(line))
		}
		c.next += len(line) + 1
		c.within = false
	}
	if !whole {
		d.codePart(b)
	}
	if len(b.Text) <= maxHighlight && !c.long {
		return 0
	}
	n := min(c.next, len(b.Text))
	c.next, c.long = c.next-n, true
	return n
}

func (d *leafDrawer) codeLine(b *markdown.Block, line string) {
	d.rows = d.theme.Wrap(d.rows, d.w, d.codeMargins(b), Span{Plain, safeterm.Clean(line)})
}

// codePart draws an incomplete line's full rows.
func (d *leafDrawer) codePart(b *markdown.Block) {
	c := &d.leaf.code
	if b.Lines == 0 {
		return
	}
	part := string(b.Text[min(c.next, len(b.Text)):])
	n := len(part)
	if !strings.Contains(part, "\t") { // a tab's width depends on the text before it
		width := d.w - d.codeMargins(b).Continuation.w
		if width <= 0 {
			width = d.w
		}
		d.theme.counts.breaks(part, width, width, true, func(from, _ int) { n = from })
	}
	if n > 0 {
		d.codeLine(b, part[:n])
		c.next += n
		c.within = true
	}
}

// code completes a block and then redraws it with highlighting.
func (d *leafDrawer) code(b *markdown.Block) {
	d.codeLines(b, true)
	lang := highlight.Named(language(b.Info))
	if !lang.Known() {
		lang = highlight.ForFile(language(b.Info)) // some models write a file name there
	}
	if d.trial || d.bare || d.leaf.code.long || !lang.Known() {
		return
	}
	d.rows, d.leaf.marked = d.rows[:d.leaf.code.row], d.leaf.code.marked
	for _, line := range highlighted(lang, string(b.Text)) {
		d.rows = d.theme.Wrap(d.rows, d.w, d.codeMargins(b), line...)
	}
}
