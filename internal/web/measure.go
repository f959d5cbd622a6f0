package web

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// measure is how much text an element holds, in runes without space.
type measure struct {
	text  int
	link  int  // of it in links
	prose int  // of it in running text: paragraphs, code, list items and cells that say something, without links
	block bool // it holds a block
	last  rune // the last one
}

func (m *measure) add(sub measure) {
	m.text, m.link, m.prose, m.block = m.text+sub.text, m.link+sub.link, m.prose+sub.prose, m.block || sub.block
	if sub.text > 0 {
		m.last = sub.last
	}
}

// dense reports that at least part of whole of the text is links.
func (m measure) dense(part, whole int) bool { return m.link*whole >= m.text*part && m.text > 0 }

// reading is what one pass over a page finds: the measure of every element, and how much running
// text each container has at hand.
type reading struct {
	sizes map[*html.Node]measure
	score map[*html.Node]int
	root  *html.Node
	total int // prose of the page
	// thread says that what readers wrote is the content.
	thread bool
}

// readTree measures every element from the leaves up.
func readTree(root *html.Node) *reading {
	r := &reading{root: root, sizes: map[*html.Node]measure{}, score: map[*html.Node]int{}}
	r.walk(root)
	r.total = r.sizes[root].prose
	return r
}

func (r *reading) walk(n *html.Node) measure {
	var m measure
	if n.Type == html.TextNode {
		m.text = visibleRunes(n.Data)
		m.last = lastVisible(n.Data)
		return m
	}
	var run measure // inline text since the last block
	for c := range n.ChildNodes() {
		sub := r.walk(c)
		if !sub.block {
			run.add(sub)
			continue
		}
		r.close(n, &run, &m)
		m.add(sub)
	}
	if isBlock(n.DataAtom) || m.block {
		m.block = true
		r.close(n, &run, &m)
	} else {
		m = run
	}
	if leadsAway(n) {
		m.link, m.prose = m.text, 0
	}
	r.sizes[n] = m
	return m
}

// leadsAway reports a link to another page: one within the page is text like any other.
func leadsAway(n *html.Node) bool {
	return n.DataAtom == atom.A && attr(n, "href") != "" && !strings.HasPrefix(attr(n, "href"), "#")
}

// close ends a run of inline text in a block and credits it to the containers around: the column of
// an article beats both its paragraphs and the page around it.
func (r *reading) close(n *html.Node, run, m *measure) {
	if says(*run) {
		run.prose = run.text - run.link
		at := n
		for at != nil && inColumn(at.DataAtom) {
			at = at.Parent
		}
		for weight := run.prose * 2; at != nil && weight > 0 && at.Type == html.ElementNode; at, weight = at.Parent, weight/2 {
			r.score[at] += weight
		}
	}
	m.add(*run)
	*run = measure{}
}

// proseRunes is the length from which a run of text is taken for running text whatever it ends
// with.
const proseRunes = 25

// says reports a run of text that says something: a line of some length, or a short one that ends
// as a sentence does.
func says(run measure) bool {
	if run.link*2 >= run.text {
		return false
	}
	switch run.last {
	case '.', '!', '?', ':', '。', '！', '？', '…', '»', '”', '"':
		return run.text >= proseRunes/3
	}
	return run.text >= proseRunes
}

// isBlock reports elements that begin a line of their own.
func isBlock(a atom.Atom) bool {
	before, _ := blockBreaks(a)
	switch a {
	case atom.Body, atom.Td, atom.Th, atom.Nav, atom.Aside, atom.Hgroup, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Center:
		return true
	}
	return before > 0
}

// inColumn reports blocks that are lines of a column rather than the column.
func inColumn(a atom.Atom) bool {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Ul, atom.Ol, atom.Li,
		atom.Dl, atom.Dt, atom.Dd, atom.Figure, atom.Figcaption, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr,
		atom.Th, atom.Caption, atom.Details, atom.Summary, atom.Address, atom.Center:
		return true
	}
	return false
}

func visibleRunes(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

func lastVisible(s string) rune {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if !unicode.IsSpace(r) {
			return r
		}
		s = s[:len(s)-size]
	}
	return 0
}

// textOf counts the visible runes of elements.
func textOf(nodes []*html.Node) int {
	n := 0
	for _, root := range nodes {
		for d := range root.Descendants() {
			if d.Type == html.TextNode {
				n += visibleRunes(d.Data)
			}
		}
	}
	return n
}
