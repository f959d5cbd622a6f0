package web

import (
	"slices"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of what is written out. A converter repeats the mark of each quote and list on each line
// inside, and fills a table to its widest row, so that small markup could become any amount of
// text.
const (
	maxContent = 1 << 20 // bytes of text; a model is given a tenth of it
	maxNodes   = 100_000
	maxNesting = 12 // lists and quotes inside each other
	maxCells   = 20_000
	maxSpan    = 50
)

// bound cuts content down to the limits and reports whether something was lost.
func bound(root *html.Node) bool {
	b := bounder{}
	b.walk(root, 0)
	for _, n := range b.extra {
		n.Parent.RemoveChild(n)
	}
	return len(b.extra) > 0
}

type bounder struct {
	text, nodes int
	extra       []*html.Node // beyond a limit
}

// walk counts in reading order; nesting is the depth in lists and quotes.
func (b *bounder) walk(n *html.Node, nesting int) {
	for c := range n.ChildNodes() {
		if b.text >= maxContent || b.nodes >= maxNodes {
			b.extra = append(b.extra, c)
			continue
		}
		b.nodes++
		inner := nesting
		switch c.DataAtom {
		case atom.Ul, atom.Ol, atom.Blockquote:
			if inner++; inner > maxNesting {
				rename(c, atom.Div)
			}
		case atom.Table:
			boundTable(c)
		}
		if c.Type == html.TextNode {
			c.Data = clip(c.Data, maxContent-b.text)
			b.text += len(c.Data)
		}
		b.walk(c, inner)
	}
}

// boundTable drops spans that claim more than a table of sense has, and takes a table apart that
// filled to its widest row would be huge.
func boundTable(table *html.Node) {
	rows, widest, cells := 0, 0, 0
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			rows++
			widest, cells = max(widest, cells), 0
		case atom.Td, atom.Th:
			cells += boundSpans(n)
		}
	}
	if widest = max(widest, cells); rows*widest > maxCells {
		rename(table, atom.Div)
	}
}

// boundSpans returns how many columns a cell takes, after cutting its spans.
func boundSpans(cell *html.Node) int {
	columns := 1
	cell.Attr = slices.DeleteFunc(cell.Attr, func(a html.Attribute) bool {
		if a.Key != "colspan" && a.Key != "rowspan" {
			return false
		}
		n, err := strconv.Atoi(a.Val)
		if err != nil || n < 1 || n > maxSpan {
			return true
		}
		if a.Key == "colspan" {
			columns = n
		}
		return false
	})
	return columns
}

// rename makes an element another one.
func rename(n *html.Node, a atom.Atom) { n.Data, n.DataAtom = a.String(), a }
