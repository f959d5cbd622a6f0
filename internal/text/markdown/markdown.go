// Package markdown reads Markdown while it is being written.
//
// The one rule: a line is read once. [Parser] knows after each line which blocks are finished and
// what is still open; nothing that comes later changes a finished block, so whoever draws them can
// keep the rows. A parser that builds a tree of the whole text cannot promise that, and would read
// an open list or code block again with every piece of it. goldmark v1.8.7 with its tables takes
// 2.8 times as long for the same text, where reading is 18 % of a frame of a streaming answer. It
// makes the program 532 kB larger, and its package variables add half of what all others cost at
// the start (3,550 allocations).
//
// It follows CommonMark 0.31 for blocks and for what is inside of them, with tables, task lists,
// strikethrough and bare addresses as GitHub has them.
//
// Start reading here: Parser. Then start.go (what begins a block), table.go, inline.go (what is
// inside of a paragraph), emphasis.go, link.go.
//
// Known limits: link reference definitions are far effects, so they and the links that use them
// stay as they are written. HTML is text. A list's items are not made loose by an empty line
// further down.
package markdown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Kind says what a block is.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	Paragraph
	Heading
	Code
	HTML // drawn as it is written
	Table
	Rule
	Empty // an item without anything in it
)

// Block is a block that holds text, with the quotes and items around it.
type Block struct {
	Kind  Kind
	Level int    // of a heading: 1 to 6
	Info  string // of fenced code: what stands behind the fence
	// Text is what it holds: lines joined by newlines, without what the containers took.
	Text []byte
	// In are the containers around it, outer first.
	In []Container
	// Gap says that an empty line stands before it.
	Gap bool
	// Align is the alignment of a table's columns; the first line of Text is then its header.
	Align []Align

	// Lines is how many lines it has, those that were taken counted.
	Lines int

	fence fence
	html  htmlEnd
	blank int // empty lines that belong to indented code only if more of it follows
}

// Container is a quote or an item of a list.
type Container struct {
	Quote bool
	// Number counts the items of an ordered list; a negative one is that of a bullet.
	Number int
	// Delimiter is what stands behind the number, or the bullet.
	Delimiter byte
	// Fresh says that no earlier block is in it: the first one carries the item's mark.
	Fresh bool

	indent int  // columns that belong to the item
	hollow bool // nothing followed the mark on its line
}

// Parser reads a text line by line. The zero value is at the start of a text. A copy made by Clone
// goes its own way, which is how a line is tried that is not finished.
type Parser struct {
	open   []Container
	leaf   Block
	gap    bool
	closed []Block
}

// Clone copies the parser; the copy's finished blocks begin empty. The two share the memory behind
// the open block's text: the copy must be dropped before the parser goes on.
func (p *Parser) Clone() Parser {
	c := *p
	c.open, c.closed = slices.Clone(p.open), nil
	return c
}

// Finished returns the blocks that were finished since the last call, in order. They are the
// caller's.
func (p *Parser) Finished() []Block {
	done := p.closed
	p.closed = nil
	return done
}

// Open is the block that is not finished; its kind is None when there is none. More lines may turn
// a paragraph into a heading, or its last line into the header of a table.
func (p *Parser) Open() *Block { return &p.leaf }

// Take drops the first n bytes of the open block's text, which were drawn and will not change.
func (p *Parser) Take(n int) { p.leaf.Text = p.leaf.Text[n:] }

// End finishes all blocks.
func (p *Parser) End() { p.interrupt(0) }

// Read returns the blocks of a whole text.
func Read(text string) []Block {
	var p Parser
	for line := range strings.SplitSeq(text, "\n") {
		p.Line(line)
	}
	p.End()
	return p.closed
}

// More continues the last line, for lines that are too long to wait for their end.
func (p *Parser) More(s string) {
	switch p.leaf.Kind {
	case Paragraph, Code, HTML:
		p.leaf.Text = append(p.leaf.Text, s...)
	default: // a heading or table row of that length is none
		p.finish()
		p.begin(Paragraph)
		p.leaf.add(s)
	}
}

// Line reads one line, without its newline.
func (p *Parser) Line(s string) {
	c := cursor{s: spaced(s), raw: s}
	matched := p.match(&c)
	whole := matched == len(p.open) // all containers go on, and none was opened in them
	if whole && p.verbatim(&c) {
		return
	}
	opened := false
	for {
		switch p.start(&c, matched, place{whole, !whole && !opened, opened}) {
		case block:
			return
		case container:
			matched++
			whole, opened = false, true
			continue
		}
		break
	}
	p.rest(&c, matched, place{whole, !whole && !opened, opened})
}

// place says how a line stands to the open block: whole, all its containers go on; lazy, some do
// not, but nothing else was opened, so that a paragraph may go on without their marks; opened,
// something was.
type place struct{ whole, lazy, opened bool }

// match follows the open containers as far as the line belongs to them.
func (p *Parser) match(c *cursor) int {
	for i := range p.open {
		o := &p.open[i]
		indent, blank := c.indent()
		switch {
		case o.Quote:
			if blank || indent > 3 || c.s[c.pos+indent] != '>' {
				return i
			}
			c.pos += indent + 1
			c.skip(1)
		case blank:
			if o.hollow && i == len(p.open)-1 && p.leaf.Kind == None {
				return i // an item begins with at most one empty line
			}
		case indent < o.indent:
			return i
		default:
			c.pos += o.indent
		}
	}
	return len(p.open)
}

// verbatim takes the line into open code or HTML, all of whose containers go on.
func (p *Parser) verbatim(c *cursor) bool {
	l := &p.leaf
	indent, blank := c.indent()
	switch {
	case l.Kind == Code && l.fence.mark != 0:
		if indent <= 3 && l.fence.closes(c.s[c.pos+indent:]) {
			p.finish()
			return true
		}
		c.pos += min(indent, l.fence.indent)
		l.add(c.written())
		return true
	case l.Kind == Code && blank:
		l.blank++
		return true
	case l.Kind == Code && indent >= 4:
		for ; l.blank > 0; l.blank-- {
			l.add("")
		}
		l.add(c.s[c.pos+4:])
		return true
	case l.Kind == HTML && !(blank && l.html.blank()):
		l.add(c.s[c.pos:])
		if l.html.in(c.s[c.pos:]) {
			p.finish()
		}
		return true
	}
	return false
}

// rest takes what begins no block.
func (p *Parser) rest(c *cursor, matched int, at place) {
	indent, blank := c.indent()
	s := c.s[c.pos+indent:]
	switch {
	case blank:
		p.interrupt(matched)
		p.gap = p.gap || !at.opened
	case p.leaf.Kind == Paragraph && (at.lazy || at.whole):
		p.leaf.add(s)
	case p.leaf.Kind == Table && at.whole:
		p.leaf.add(s)
	default:
		p.interrupt(matched)
		p.begin(Paragraph)
		p.leaf.add(s)
	}
}

// begin opens a block in the containers that are open.
func (p *Parser) begin(k Kind) {
	p.leaf = Block{Kind: k, In: slices.Clone(p.open), Gap: p.gap}
	p.gap = false
	for i := range p.open {
		p.open[i].Fresh, p.open[i].hollow = false, false
	}
}

// finish closes the open block.
func (p *Parser) finish() {
	if p.leaf.Kind == None {
		return
	}
	p.gap = p.gap || p.leaf.blank > 0
	p.closed = append(p.closed, p.leaf)
	p.leaf = Block{}
}

// interrupt finishes the open block, and the containers behind the first n.
func (p *Parser) interrupt(n int) {
	p.finish()
	if last := len(p.open) - 1; last >= n && p.open[last].Fresh {
		p.begin(Empty)
		p.finish()
	}
	p.open = p.open[:n]
}

// add appends a line.
func (b *Block) add(s string) {
	if b.Lines > 0 {
		b.Text = append(b.Text, '\n')
	}
	b.Text = append(b.Text, s...)
	b.Lines++
}

// lastLine is where the last line of the text begins.
func (b *Block) lastLine() int { return bytes.LastIndexByte(b.Text, '\n') + 1 }

// Mark is what an item is called: "3." or "-".
func (c Container) Mark() string {
	if c.Number < 0 {
		return string(c.Delimiter)
	}
	return strconv.Itoa(c.Number) + string(c.Delimiter)
}
