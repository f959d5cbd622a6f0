package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// around is what the page itself declares to be no content.
const around = "nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], .mw-editsection, .mw-jump-link"

// dropSurroundings removes what surrounds the content: navigation, the page's own header and
// footer, and what names itself as such. Nothing goes that holds a good part of the page's running
// text.
func dropSurroundings(body *goquery.Selection) {
	r := readTree(body.Nodes[0])
	small := func(n *html.Node) bool { return 2*r.sizes[n].prose < max(r.total, 1) || r.sizes[n].dense(1, 2) }
	remove(body.Find(around), small)
	remove(body.Find("aside"), func(n *html.Node) bool { return small(n) && !isNamed(n, noteWords) })
	remove(body.Find("footer"), func(n *html.Node) bool { return small(n) && !inside(n, atom.Blockquote) })
	remove(body.Find("header"), func(n *html.Node) bool {
		return !inside(n, atom.Article) && !inside(n, atom.Main) && small(n) && (r.sizes[n].dense(1, 2) || r.sizes[n].prose == 0 && !holds(n, atom.H1))
	})
	remove(body.Find("div, ul, ol, section, p, table, td, form, span, li"), func(n *html.Node) bool { return r.surrounds(n) })
}

// noteWords name asides that are part of a text.
var noteWords = []string{"note", "tip", "warning", "info", "admonition", "callout", "important", "caution", "danger", "hint", "footnote", "footnotes", "sidenote"}

// surrounds reports an element whose name says that it is no content, and that holds none to speak
// of.
func (r *reading) surrounds(n *html.Node) bool {
	m := r.sizes[n]
	if m.text == 0 || 4*m.prose > r.total || 2*m.text > r.sizes[r.root].text || inside(n, atom.Pre) || inside(n, atom.Code) || holds(n, atom.H1) {
		return false
	}
	if isNamed(n, strangeWords) {
		return true
	}
	return isNamed(n, aroundWords) && (m.prose == 0 || m.dense(1, 2)) && !r.holdsHeading(n)
}

// holdsHeading reports a heading that is no link, below n: what follows it has a name of its own.
func (r *reading) holdsHeading(n *html.Node) bool {
	for d := range n.Descendants() {
		if isHeading(d) && !r.sizes[d].dense(1, 2) && !within(d, atom.A, n) {
			return true
		}
	}
	return false
}

// inside reports an element of the kind around n.
func inside(n *html.Node, a atom.Atom) bool { return n.Parent != nil && within(n.Parent, a, nil) }

func remove(found *goquery.Selection, which func(*html.Node) bool) {
	for _, n := range found.Nodes {
		if n.Parent != nil && which(n) {
			n.Parent.RemoveChild(n)
		}
	}
}

// talkLeast is the running text that a page must have without its comments for them to be dropped:
// below, they are what it is about.
const talkLeast = 200

// dropTalk removes what readers wrote below an article, and says so. Questions and answers are no
// comments.
func dropTalk(body *goquery.Selection) (left []string) {
	if isThread(body) {
		return nil
	}
	r := readTree(body.Nodes[0])
	talk := body.Find("div, section, ol, ul, aside, article, table, details").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return isTalk(s.Nodes[0])
	})
	talk = outermost(talk)
	said := r.proseOf(talk.Nodes)
	if said == 0 || r.total-said < talkLeast {
		return nil
	}
	runes := 0
	for _, n := range talk.Nodes {
		runes += r.sizes[n].text
	}
	left = append(left, fmt.Sprintf("comments, %d characters%s", runes, selecting(talk.Nodes)))
	talk.Remove()
	return left
}

// isThread reports a page of questions and answers, or of a forum, by its own word.
func isThread(body *goquery.Selection) bool {
	return body.Parent().Find(`[itemtype*="QAPage"], [itemtype*="DiscussionForumPosting"], [itemtype*="Question"]`).Length() > 0
}

func isTalk(n *html.Node) bool {
	return isNamed(n, talkWords) && !inside(n, atom.Pre) && !holds(n, atom.H1) && !holds(n, atom.Main) && n.DataAtom != atom.Main &&
		attr(n, "itemprop") != "articleBody" && goquery.NewDocumentFromNode(n).Find("[itemprop=articleBody]").Length() == 0
}

// selecting is the selector of the first of some elements that has one, in words.
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

// dropFurniture removes from an article what stands between and behind its parts: forms, and lists
// of other pages.
func dropFurniture(content *html.Node) {
	r := readTree(content)
	s := goquery.NewDocumentFromNode(content).Selection
	remove(s.Find("form"), func(n *html.Node) bool { return 4*r.sizes[n].prose < r.total })
	s.Find("h2, h3, h4, h5, h6, p, div, strong").Each(func(_ int, heading *goquery.Selection) {
		if n := heading.Nodes[0]; n.Parent != nil && r.sizes[n].text < 40 && pointsAway(heading.Text()) {
			r.dropBelow(n)
		}
	})
	for last := lastBlock(content); last != nil && r.listsLinks(last); last = lastBlock(content) {
		last.Parent.RemoveChild(last)
	}
}

// pointsAway reports a heading over a list of other pages.
func pointsAway(text string) bool {
	text = strings.ToLower(strings.Trim(strings.Join(strings.Fields(text), " "), ":.!… "))
	return slices.Contains([]string{
		"related", "related articles", "related stories", "related posts", "related topics", "related links", "related content", "related news",
		"read more", "read next", "read also", "more stories", "more news", "most read", "most popular", "popular", "trending", "trending now",
		"recommended", "recommended for you", "you may also like", "you might also like", "you might like", "share", "share this", "share this article",
		"share this story", "share this post", "follow us", "subscribe", "latest news", "latest stories", "top stories", "editors' picks",
		"editor's picks", "don't miss", "up next", "more from", "advertisement", "sponsored", "around the web", "from the web", "newsletter",
		"sign up", "tags", "filed under", "posted in", "categories", "leave a comment", "leave a reply",
	}, text)
}

// dropBelow removes a heading with the links that follow it.
func (r *reading) dropBelow(heading *html.Node) {
	next := nextElement(heading)
	for next != nil && (r.sizes[next].dense(1, 2) || r.teasers(next)) {
		after := nextElement(next)
		next.Parent.RemoveChild(next)
		next = after
	}
	heading.Parent.RemoveChild(heading)
}

func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// listsLinks reports a list or block of several titles of other pages.
func (r *reading) listsLinks(n *html.Node) bool {
	links := goquery.NewDocumentFromNode(n).Find("a").Length()
	m := r.sizes[n]
	before := n.PrevSibling
	for before != nil && before.Type == html.TextNode {
		before = before.PrevSibling
	}
	if before != nil && isHeading(before) || r.holdsHeading(n) {
		return false
	}
	return links >= 2 && m.dense(4, 5) && m.link/links >= 20 && m.prose == 0 && 4*m.text < r.sizes[r.root].text
}

// lastBlock is the deepest element at the very end of some content that is a list or holds nothing
// but one.
func lastBlock(n *html.Node) *html.Node {
	for c := n.LastChild; c != nil; c = c.PrevSibling {
		switch {
		case c.Type == html.TextNode && visibleRunes(c.Data) == 0:
		case c.Type != html.ElementNode:
			return nil
		case textOf([]*html.Node{c}) == 0 && !pictured(c):
		default:
			return c
		}
	}
	return nil
}
