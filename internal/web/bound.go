package web

import (
	"slices"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Output bounds. A converter repeats each quote and list mark on every line inside, and pads a
// table to its widest row, so small markup could produce unlimited text.
const (
	maxContent = 1 << 20 // bytes; the model gets a tenth
	maxNodes   = 100_000
	maxNesting = 12 // nested lists and quotes
	maxCells   = 20_000
	maxSpan    = 50
)

// bound cuts content to the limits and reports whether anything was dropped.
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
	extra       []*html.Node
}

// walk counts in document order; nesting is the depth in lists and quotes.
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

// boundTable drops implausibly large spans, and turns a table into plain blocks if padding it to
// its widest row would be huge.
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

func rename(n *html.Node, a atom.Atom) { n.Data, n.DataAtom = a.String(), a }
