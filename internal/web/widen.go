package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// article is an element that holds an article, and what in it is none of it.
type article struct {
	root *html.Node
	drop []*html.Node
}

// widen goes up from the column with most text and takes in what belongs to the article beside it.
// The higher it gets, the clearer this has to be.
func (r *reading) widen(top, body *html.Node) article {
	found := article{root: top}
	var others []*html.Node // beside the way up, not part of the article
	level := 0
	for at := top; at != body && at.Parent != nil && at.Parent.Type == html.ElementNode; at = at.Parent {
		joined, alien, before := false, false, true
		var open []*html.Node // neither clearly part of it nor clearly not
		for s := range at.Parent.ChildNodes() {
			switch {
			case s == at:
				before = false
				continue
			case r.sizeOf(s).text == 0 && !pictured(s):
				continue
			}
			b := neighbour{reading: r, at: at, s: s, m: r.sizeOf(s), before: before, level: level}
			switch {
			case b.belongs():
				joined = true
			case b.alien():
				others, alien = append(others, s), true
			default:
				open, alien = append(open, s), true
			}
		}
		if joined {
			found = article{at.Parent, append([]*html.Node(nil), others...)}
		} else {
			others = append(others, open...)
		}
		if alien {
			level++
		}
	}
	return found
}

// sizeOf is the measure of an element or a text between elements.
func (r *reading) sizeOf(n *html.Node) measure {
	if n.Type == html.TextNode {
		return measure{text: visibleRunes(n.Data), prose: visibleRunes(n.Data)}
	}
	return r.sizes[n]
}

// neighbour is one neighbour of the way up to the body.
type neighbour struct {
	*reading
	at, s  *html.Node
	m      measure
	before bool
	level  int // how often there was something else beside the way so far
}

// belongs decides whether a neighbour is part of the article.
func (b neighbour) belongs() bool {
	if b.s.Type == html.TextNode {
		return b.level == 0 || b.m.text >= proseRunes
	}
	if b.alien() {
		return false
	}
	switch {
	case b.m.text == 0:
		return b.level == 0
	case isHeading(b.s):
		return b.before && (b.s.DataAtom == atom.H1 || b.level < 2) || b.level == 0
	case b.before && b.leads():
		return true
	case twins(b.s, b.at):
		return b.m.prose > 0
	case inColumn(b.s.DataAtom) || !b.m.block:
		return b.level == 0 || b.level < 3 && b.m.prose > 0 && !b.m.dense(1, 4)
	}
	return b.weighs()
}

// alien reports what is no part of an article wherever it stands: what its name says, and links to
// other pages.
func (b neighbour) alien() bool {
	if b.s.Type == html.TextNode || isHeading(b.s) {
		return false
	}
	if b.m.dense(1, 2) && !b.holdsHeading(b.s) && (b.level > 0 || !isList(b.s) && b.s.DataAtom != atom.Dl || b.headlines()) {
		return true
	}
	return b.against(b.s) || b.teasers(b.s) && !twins(b.s, b.at)
}

// headlines reports several links that are as long as titles are; a list of shorter ones belongs to
// the text around it.
func (b neighbour) headlines() bool {
	links := 0
	for d := range b.s.Descendants() {
		if leadsAway(d) {
			links++
		}
	}
	return links >= 2 && b.m.link/links >= 20
}

// leads reports what stands in front of an article and begins it: the block with the headline, or
// one that is named so.
func (b neighbour) leads() bool {
	if b.m.dense(1, 3) {
		return false
	}
	if isNamed(b.s, leadWords) && b.m.prose > 0 {
		return true
	}
	return holds(b.s, atom.H1) && (b.m.prose > 0 || b.m.text < 300)
}

// weighs reports a block with enough running text of its own for the distance.
func (b neighbour) weighs() bool {
	whole := b.sizes[b.at].prose
	switch {
	case b.m.dense(1, 3) || b.m.prose*2 < b.m.text:
		return false
	case b.level == 0:
		return b.m.prose >= 200 || b.m.prose*5 >= whole
	case b.level < 3:
		return b.m.prose >= 800 || b.m.prose*4 >= whole
	}
	return b.m.prose*2 >= whole
}

// twins reports elements made the same way: the parts of one article.
func twins(a, b *html.Node) bool {
	return a.DataAtom == b.DataAtom && a.Data == b.Data && attr(a, "class") == attr(b, "class") &&
		(attr(a, "class") != "" || a.DataAtom == atom.Section || a.DataAtom == atom.Article || isLine(a.DataAtom))
}

// isLine reports rows and cells, which carry articles on old pages.
func isLine(a atom.Atom) bool { return a == atom.Tr || a == atom.Td || a == atom.Tbody }

// teasers reports a block that points to other pages: several headings, most of them links.
func (r *reading) teasers(n *html.Node) bool {
	headings, linked := 0, 0
	for d := range n.Descendants() {
		if !isHeading(d) {
			continue
		}
		headings++
		if r.sizes[d].dense(4, 5) || within(d, atom.A, n) {
			linked++
		}
	}
	return linked >= 2 && linked*2 > headings
}

func isHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hgroup:
		return true
	}
	return false
}

// pictured reports an element that shows a picture.
func pictured(n *html.Node) bool { return n.DataAtom == atom.Img || holds(n, atom.Img) }

// holds reports an element of the kind below n.
func holds(n *html.Node, a atom.Atom) bool {
	for d := range n.Descendants() {
		if d.DataAtom == a {
			return true
		}
	}
	return false
}

// within reports an element of the kind around n, below top.
func within(n *html.Node, a atom.Atom, top *html.Node) bool {
	for ; n != nil && n != top; n = n.Parent {
		if n.DataAtom == a {
			return true
		}
	}
	return false
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}
