// Package markdown parses Markdown while it is being written.
//
// The one rule: each line is read once. After each line, [Parser] knows which blocks are finished
// and what is open; later lines never change a finished block, so a renderer can keep its rows. A
// parser that builds a tree cannot guarantee that, and would reparse an open list or code block
// with every piece. goldmark v1.8.7 with tables takes 2.8 times as long, where parsing is 18 % of a
// frame of a streaming answer; it adds 532 kB to the binary and 3,550 allocations at startup.
//
// It follows CommonMark 0.31, with tables, task lists, strikethrough and bare addresses as on
// GitHub.
//
// Start reading at Parser. Then start.go (block starts), table.go, inline.go (paragraph contents),
// emphasis.go, link.go.
//
// Known limits: link reference definitions have effects far away, so they and links that use them
// stay as written. HTML is text. An empty line later in a list does not make its earlier items
// loose.
package markdown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Kind is a block type.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	Paragraph
	Heading
	Code
	HTML // shown as written
	Table
	Rule
	Empty // an item without content
)

// Block is a text block with its containers.
type Block struct {
	Kind  Kind
	Level int    // heading level, 1 to 6
	Info  string // info string after a code fence
	// Text is the content: lines joined by newlines, without container marks.
	Text []byte
	// In are the containers, outermost first.
	In []Container
	// Gap is set if an empty line precedes the block.
	Gap bool
	// Align holds the alignment of a table's columns; the first line in Text is then the header.
	Align []Align

	// Lines counts the lines, including taken ones.
	Lines int

	fence fence
	html  htmlEnd
	blank int // empty lines, part of indented code only if more follows
}

// Container is a quote or a list item.
type Container struct {
	Quote bool
	// Number is an item's number in an ordered list; negative for a bullet.
	Number int
	// Delimiter is the character after the number, or the bullet.
	Delimiter byte
	// Fresh is set until a block is in the container: the first one shows the item's mark.
	Fresh bool

	indent int  // columns belonging to the item
	hollow bool // nothing followed the mark on its line
}

// Parser reads a text line by line. The zero value is at the start. A copy made by Clone is
// independent and can try an unfinished line.
type Parser struct {
	open   []Container
	leaf   Block
	gap    bool
	closed []Block
}

// Clone copies the parser without its finished blocks. The two share the open block's memory: drop
// the copy before using the parser again.
func (p *Parser) Clone() Parser {
	c := *p
	c.open, c.closed = slices.Clone(p.open), nil
	return c
}

// Finished returns the blocks finished since the last call, in order. The caller owns them.
func (p *Parser) Finished() []Block {
	done := p.closed
	p.closed = nil
	return done
}

// Open returns the unfinished block; its kind is None if there is none. Later lines may turn a
// paragraph into a heading, or its last line into a table header.
func (p *Parser) Open() *Block { return &p.leaf }

// Take drops the first n bytes from the open block's text, which were drawn and will not change.
func (p *Parser) Take(n int) { p.leaf.Text = p.leaf.Text[n:] }

// End finishes all blocks.
func (p *Parser) End() { p.interrupt(0) }

// Read returns the blocks in a complete text.
func Read(text string) []Block {
	var p Parser
	for line := range strings.SplitSeq(text, "\n") {
		p.Line(line)
	}
	p.End()
	return p.closed
}

// Settled returns the length of the lines at a text's start that no later text changes.
func Settled(text string) (n int) {
	var p Parser
	at := 0
	for line := range strings.Lines(text) {
		whole, ended := strings.CutSuffix(line, "\n")
		if !ended {
			break
		}
		p.Line(whole)
		at += len(line)
		if last := len(p.closed) - 1; len(p.open) == 0 && p.leaf.Kind == None && last >= 0 && len(p.closed[last].In) == 0 {
			n = at
		}
	}
	return n
}

// Continue continues the last line, for lines too long to wait for their end.
func (p *Parser) Continue(s string) {
	switch p.leaf.Kind {
	case Paragraph, Code, HTML:
		p.leaf.Text = append(p.leaf.Text, s...)
	default: // too long for a heading or table row
		p.finish()
		p.begin(Paragraph)
		p.leaf.add(s)
	}
}

// Line reads one line, without its newline.
func (p *Parser) Line(s string) {
	c := cursor{s: spaced(s), raw: s}
	matched := p.match(&c)
	whole := matched == len(p.open) // all containers continue, and none was opened
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

// place relates a line to the open block. whole: all containers continue; lazy: some do not but
// nothing was opened, so a paragraph may continue without their marks; opened: something was
// opened.
type place struct{ whole, lazy, opened bool }

// match returns how many open containers the line continues.
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

// verbatim adds the line to open code or HTML whose containers all continue.
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

// rest handles a line that begins no block.
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

func (p *Parser) begin(k Kind) {
	p.leaf = Block{Kind: k, In: slices.Clone(p.open), Gap: p.gap}
	p.gap = false
	for i := range p.open {
		p.open[i].Fresh, p.open[i].hollow = false, false
	}
}

func (p *Parser) finish() {
	if p.leaf.Kind == None {
		return
	}
	p.gap = p.gap || p.leaf.blank > 0
	p.closed = append(p.closed, p.leaf)
	p.leaf = Block{}
}

func (p *Parser) interrupt(n int) {
	p.finish()
	if last := len(p.open) - 1; last >= n && p.open[last].Fresh {
		p.begin(Empty)
		p.finish()
	}
	p.open = p.open[:n]
}

func (b *Block) add(s string) {
	if b.Lines > 0 {
		b.Text = append(b.Text, '\n')
	}
	b.Text = append(b.Text, s...)
	b.Lines++
}

func (b *Block) lastLine() int { return bytes.LastIndexByte(b.Text, '\n') + 1 }

// Mark returns an item's mark: "3." or "-".
func (c Container) Mark() string {
	if c.Number < 0 {
		return string(c.Delimiter)
	}
	return strconv.Itoa(c.Number) + string(c.Delimiter)
}
