package web

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// How a page's content is found:
//
// Navigation, footers and readers' comments are removed first (names.go has their names); comments
// only if the page is about something else. Then comes the part marked as article or main; without
// one, the block with most running text, together with siblings that are running text too. A page
// of link lists stays whole.

// marks are selectors for content marked by the page, the most specific first.
var marks = [...]string{"[itemprop=articleBody], .markdown-body, #mw-content-text", "article", "main, [role=main]"}

// around selects elements declared by the page to be no content.
const around = "nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], .mw-editsection, .mw-jump-link"

// mainContent returns the elements with the page's content, and descriptions of removed parts that
// a reader may miss.
func mainContent(doc *goquery.Document) (*goquery.Selection, []string) {
	body := doc.Find("body").First()
	if body.Length() == 0 {
		return doc.Selection, nil
	}
	dropSurroundings(body)
	left := dropTalk(body)
	content := contentOf(body, len(left) == 0)
	dropFurniture(content)
	return goquery.NewDocumentFromNode(content).Selection, left
}

// measure counts the text in an element, in runes without space.
type measure struct {
	text  int
	link  int  // in links
	prose int  // in running text: lines of some length, or ending like a sentence
	block bool // is or contains a block
	last  string
}

func (m *measure) add(sub measure) {
	m.text, m.link, m.prose, m.block = m.text+sub.text, m.link+sub.link, m.prose+sub.prose, m.block || sub.block
	if sub.text > 0 {
		m.last = sub.last
	}
}

// dense reports whether at least part/whole of the text is in links.
func (m measure) dense(part, whole int) bool { return m.link*whole >= m.text*part && m.text > 0 }

// pageMeasure holds every element's measure, from one pass over the page.
type pageMeasure struct {
	sizes map[*html.Node]measure
	score map[*html.Node]int // running text in the element's own lines, plus half each child's score
	total int                // running text in the page
	// thread is set if readers' posts are the content.
	thread bool
}

func readTree(root *html.Node) *pageMeasure {
	r := &pageMeasure{sizes: map[*html.Node]measure{}, score: map[*html.Node]int{}}
	r.total = r.walk(root).prose
	return r
}

func (r *pageMeasure) walk(n *html.Node) (m measure) {
	if n.Type == html.TextNode {
		m = measure{text: visibleRunes(n.Data), last: strings.TrimSpace(n.Data)}
		r.sizes[n] = m
		return m
	}
	var line measure // since the last block
	for c := range n.ChildNodes() {
		if sub := r.walk(c); sub.block {
			r.end(n, &line, &m)
			m.add(sub)
		} else {
			line.add(sub)
		}
	}
	if m.block = m.block || isBlock(n.DataAtom); m.block {
		r.end(n, &line, &m)
	} else {
		m = line
	}
	if n.DataAtom == atom.A && attr(n, "href") != "" && !strings.HasPrefix(attr(n, "href"), "#") {
		m.link, m.prose = m.text, 0
	}
	r.sizes[n] = m
	return m
}

// proseRunes is the length from which a line counts as running text whatever it ends with.
const proseRunes = 25

// end ends a line in a block. Its running text also counts for the containers around it, so that an
// article's column scores higher than both its paragraphs and the page.
func (r *pageMeasure) end(n *html.Node, line, m *measure) {
	ends := line.last != strings.TrimRight(line.last, `."”»!?:。！？…`)
	if line.link*2 < line.text && (line.text >= proseRunes || ends && line.text >= proseRunes/3) {
		line.prose = line.text - line.link
		at := n
		for at.Parent != nil && inColumn(at.DataAtom) {
			at = at.Parent
		}
		for weight := line.prose * 2; at != nil && weight > 0; at, weight = at.Parent, weight/2 {
			r.score[at] += weight
		}
	}
	m.add(*line)
	*line = measure{}
}

// contentOf returns the element with the page's content; in a thread that includes the readers'
// posts.
func contentOf(body *goquery.Selection, thread bool) *html.Node {
	root := body.Nodes[0]
	r := readTree(root)
	r.thread = thread
	whole := r.sizes[root]
	article := r.total*4 >= whole.text || r.total >= 2000
	for _, mark := range marks {
		found := outermost(body.Find(mark)).Nodes
		if len(found) != 1 {
			continue
		}
		if m := r.sizes[found[0]]; article && m.prose*2 >= r.total {
			return r.widen(found[0], root)
		} else if !article && m.text*4 >= whole.text {
			return found[0]
		}
	}
	best := root
	if !article {
		return best
	}
	for n := range root.Descendants() {
		if r.score[n] > r.score[best] && !r.against(n) {
			best = n
		}
	}
	return r.widen(best, root)
}

// widen goes up from the block with most text. At each level it adds sibling running text and
// headings and drops the rest; higher levels need more text.
func (r *pageMeasure) widen(n, root *html.Node) *html.Node {
	found, far := n, false
	var drop []*html.Node
	for at := n; at != root; at = at.Parent {
		joined := false
		var open []*html.Node // undecided
		for s := range at.Parent.ChildNodes() {
			m := r.sizes[s]
			switch {
			case s == at || m.text == 0:
			case m.dense(1, 2) || r.against(s):
				drop = append(drop, s)
			case s.DataAtom == atom.H1 || holds(s, atom.H1), !far && (m.prose*2 >= m.text || isHeading(s)), m.prose*2 >= m.text && m.prose*4 >= r.sizes[n].prose:
				joined = joined || m.prose > 0 || !isHeading(s) || s.DataAtom == atom.H1
			default:
				open = append(open, s)
			}
		}
		if joined {
			found = at.Parent
			for _, s := range drop {
				s.Parent.RemoveChild(s)
			}
			drop = nil
			continue
		}
		drop = append(drop, open...)
		far = far || len(drop) > 0
	}
	return found
}

// dropSurroundings removes navigation, the page's header and footer, and elements named as such. It
// keeps anything that holds much of the page's running text.
func dropSurroundings(body *goquery.Selection) {
	r := readTree(body.Nodes[0])
	small := func(n *html.Node) bool { return 2*r.sizes[n].prose < max(r.total, 1) || r.sizes[n].dense(1, 2) }
	remove(body.Find(around), small)
	remove(body.Find("aside"), func(n *html.Node) bool { return small(n) && !isNamed(n, noteWords) })
	remove(body.Find("footer"), func(n *html.Node) bool { return small(n) && !inside(n, atom.Blockquote) })
	remove(body.Find("header"), func(n *html.Node) bool {
		return !inside(n, atom.Article) && !inside(n, atom.Main) && small(n) && (r.sizes[n].dense(1, 2) || r.sizes[n].prose == 0 && !holds(n, atom.H1))
	})
	remove(body.Find("div, ul, ol, section, p, table, td, form, span, li"), func(n *html.Node) bool {
		m := r.sizes[n]
		if m.text == 0 || 4*m.prose > r.total || 2*m.text > r.sizes[body.Nodes[0]].text || inside(n, atom.Pre) || inside(n, atom.Code) || holds(n, atom.H1) {
			return false
		}
		return isNamed(n, strangeWords) || isNamed(n, aroundWords) && (m.prose == 0 || m.dense(1, 2)) && !r.holdsHeading(n)
	})
}

// holdsHeading reports whether a heading below n is not a link, which means that n is a section of
// its own.
func (r *pageMeasure) holdsHeading(n *html.Node) bool {
	for d := range n.Descendants() {
		if isHeading(d) && !r.sizes[d].dense(1, 2) && !within(d, atom.A, n) {
			return true
		}
	}
	return false
}

// talkLeast is the running text that a page must have outside its comments for them to be dropped;
// with less, the comments are the content.
const talkLeast = 200

// dropTalk removes readers' comments below an article and returns their descriptions. Questions and
// answers are not comments.
func dropTalk(body *goquery.Selection) (left []string) {
	if body.Parent().Find(`[itemtype*="QAPage"], [itemtype*="DiscussionForumPosting"], [itemtype*="Question"]`).Length() > 0 {
		return nil
	}
	r := readTree(body.Nodes[0])
	talk := outermost(body.Find("div, section, ol, ul, aside, article, table, details").FilterFunction(func(_ int, s *goquery.Selection) bool {
		n := s.Nodes[0]
		return isNamed(n, talkWords) && !inside(n, atom.Pre) && !holds(n, atom.H1) && !holds(n, atom.Main) && !s.Is("[itemprop=articleBody]") && s.Find("[itemprop=articleBody]").Length() == 0
	}))
	said, runes := 0, 0
	for _, n := range talk.Nodes {
		said, runes = said+r.sizes[n].prose, runes+r.sizes[n].text
	}
	if said == 0 || r.total-said < talkLeast {
		return nil
	}
	left = append(left, fmt.Sprintf("comments, %d characters%s", runes, selecting(talk.Nodes)))
	talk.Remove()
	return left
}

// selecting returns a description with the selector of the first node that has one.
func selecting(nodes []*html.Node) string {
	for _, n := range nodes {
		if id := attr(n, "id"); plainID(id) {
			return " (selector #" + id + ")"
		}
		for class := range strings.FieldsSeq(attr(n, "class")) {
			if plainID(class) && tells(class, talkWords) {
				return " (selector ." + class + ")"
			}
		}
	}
	return ""
}

// dropFurniture removes forms and link lists between and after an article's parts.
func dropFurniture(content *html.Node) {
	r := readTree(content)
	s := goquery.NewDocumentFromNode(content).Selection
	remove(s.Find("section, div, ul, ol, aside"), func(n *html.Node) bool { return 2*r.sizes[n].prose < r.total && r.teasers(n) })
	remove(s.Find("form"), func(n *html.Node) bool { return 4*r.sizes[n].prose < r.total })
	s.Find("h2, h3, h4, h5, h6, p, div, strong").Each(func(_ int, heading *goquery.Selection) {
		text := strings.ToLower(strings.Trim(strings.Join(strings.Fields(heading.Text()), " "), ":.!… "))
		if n := heading.Nodes[0]; n.Parent == nil || r.sizes[n].text >= 40 || !slices.Contains(headingsAway, text) {
			return
		}
		for next := heading.Next(); next.Length() > 0 && r.sizes[next.Nodes[0]].dense(1, 2); next = heading.Next() {
			next.Remove()
		}
		heading.Remove()
	})
}

// teasers reports whether n points to other pages: several headings, most of them links.
func (r *pageMeasure) teasers(n *html.Node) bool {
	headings, linked := 0, 0
	for d := range n.Descendants() {
		if isHeading(d) {
			headings++
			if r.sizes[d].dense(4, 5) || within(d, atom.A, n) {
				linked++
			}
		}
	}
	return linked >= 2 && linked*2 > headings
}

func remove(found *goquery.Selection, which func(*html.Node) bool) {
	for _, n := range found.Nodes {
		if n.Parent != nil && which(n) {
			n.Parent.RemoveChild(n)
		}
	}
}

// against reports whether n is named as something other than content and is not most of the page.
func (r *pageMeasure) against(n *html.Node) bool {
	return n.Type == html.ElementNode && r.sizes[n].prose*2 <= r.total && (isNamed(n, aroundWords) || isNamed(n, strangeWords) || !r.thread && isNamed(n, talkWords))
}

func outermost(s *goquery.Selection) *goquery.Selection {
	return s.NotSelection(s.Find("*").FilterSelection(s))
}

// isBlock reports whether the element starts its own line.
func isBlock(a atom.Atom) bool {
	before, _ := blockBreaks(a)
	switch a {
	case atom.Body, atom.Td, atom.Th, atom.Nav, atom.Aside, atom.Hgroup, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Center:
		return true
	}
	return before > 0
}

// inColumn reports whether a block is a line in a column rather than a column.
func inColumn(a atom.Atom) bool {
	switch a {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Body, atom.Td, atom.Form, atom.Aside, atom.Nav, atom.Header, atom.Footer, 0:
		return false
	}
	return true
}

func visibleRunes(s string) (n int) {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

func textOf(nodes []*html.Node) (n int) {
	for _, root := range nodes {
		for d := range root.Descendants() {
			if d.Type == html.TextNode {
				n += visibleRunes(d.Data)
			}
		}
	}
	return n
}

func isHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hgroup:
		return true
	}
	return false
}

func holds(n *html.Node, a atom.Atom) bool {
	for d := range n.Descendants() {
		if d.DataAtom == a {
			return true
		}
	}
	return false
}

func within(n *html.Node, a atom.Atom, top *html.Node) bool {
	for ; n != nil && n != top; n = n.Parent {
		if n.DataAtom == a {
			return true
		}
	}
	return false
}

func inside(n *html.Node, a atom.Atom) bool { return n.Parent != nil && within(n.Parent, a, nil) }

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}
