package web

import (
	"slices"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Where the content of a page is:
//
// First what surrounds it goes (surround.go): navigation, footers, and the readers' comments where
// they are not what the page is about. Then the column with most running text is looked for, and
// widened to all that belongs to it: the other parts of an article that is split, the lead and the
// headline in front of it. What the page itself marks as its article settles the edges. A page that
// is no text but lists of links and names stays whole.

// marks are the ways in which pages point out their content, the most telling first.
var marks = [...]string{
	"[itemprop=articleBody], .markdown-body, #mw-content-text", "article", "main, [role=main]",
}

// mainContent returns the elements that hold what a page is about, and names what was left out that
// a reader may miss.
func mainContent(doc *goquery.Document) (*goquery.Selection, []string) {
	body := doc.Find("body").First()
	if body.Length() == 0 {
		return doc.Selection, nil
	}
	dropSurroundings(body)
	left := dropTalk(body)
	body = mainPart(body)
	r := readTree(body.Nodes[0])
	r.thread = len(left) == 0
	content := r.article(body)
	if content == nil {
		content = r.collection(body)
	} else {
		dropFurniture(content)
	}
	return goquery.NewDocumentFromNode(content).Selection, left
}

// mainPart is the one element that a page names as its main part, or the body.
func mainPart(body *goquery.Selection) *goquery.Selection {
	found := outermost(body.Find("main, [role=main]"))
	if found.Length() != 1 {
		return body
	}
	part, whole := textOf(found.Nodes), textOf(body.Nodes)
	if 4*part >= whole || part > 0 && holds(found.Nodes[0], atom.H1) {
		return found
	}
	return body
}

// article finds the element with the running text of a page; if nil, there is too little for an
// article.
func (r *reading) article(body *goquery.Selection) *html.Node {
	root := body.Nodes[0]
	top := r.heaviest(root)
	if top == nil || r.total*4 < r.sizes[root].text && r.total < 2000 {
		return nil
	}
	top = r.lift(top)
	if m := r.marked(body, top, 80); m != nil {
		top = m
	}
	found := r.widen(top, root)
	if m := r.marked(body, found.root, 60); m != nil && !slices.ContainsFunc(found.drop, r.teasers) {
		found = r.widen(m, root)
	}
	if r.sizes[found.root].prose-r.proseOf(found.drop) < r.total/2 {
		return nil
	}
	for _, n := range found.drop {
		n.Parent.RemoveChild(n)
	}
	return found.root
}

// collection is the element with the content of a page that is no article: what the page marks, or
// all of it.
func (r *reading) collection(body *goquery.Selection) *html.Node {
	whole := r.sizes[body.Nodes[0]].text
	for _, mark := range slices.Backward(marks[:]) {
		if found := outermost(body.Find(mark)); found.Length() == 1 && 4*r.sizes[found.Nodes[0]].text >= whole {
			return found.Nodes[0]
		}
	}
	return body.Nodes[0]
}

func (r *reading) proseOf(nodes []*html.Node) int {
	n := 0
	for _, node := range nodes {
		n += r.sizes[node].prose
	}
	return n
}

// heaviest is the container with most running text at hand, less where much of it is links or its
// name speaks against it.
func (r *reading) heaviest(root *html.Node) *html.Node {
	var best *html.Node
	high := 0
	for n := range root.Descendants() {
		score, m := r.score[n], r.sizes[n]
		if score == 0 || m.text == 0 {
			continue
		}
		score = score * (m.text - m.link) / m.text
		if r.against(n) {
			score /= 4
		}
		if score > high {
			best, high = n, score
		}
	}
	if best == nil && r.score[root] > 0 {
		return root
	}
	return best
}

// lift goes up while an element has next to nothing beside it.
func (r *reading) lift(n *html.Node) *html.Node {
	for n.Parent != nil && n.DataAtom != atom.Body && n.Parent.DataAtom != atom.Body && n.Parent.Type == html.ElementNode {
		if r.sizes[n.Parent].text != r.sizes[n].text {
			break
		}
		n = n.Parent
	}
	return n
}

// marked is the innermost element around top that the page marks as its content, where top has so
// much of its prose in percent.
func (r *reading) marked(body *goquery.Selection, top *html.Node, percent int) *html.Node {
	for _, mark := range marks {
		found := body.Find(mark)
		for n := top; n != nil && n.DataAtom != atom.Body; n = n.Parent {
			if slices.Contains(found.Nodes, n) && 100*r.sizes[top].prose >= percent*r.sizes[n].prose {
				return n
			}
		}
	}
	return nil
}

// outermost are the elements that lie in none of the others.
func outermost(s *goquery.Selection) *goquery.Selection {
	return s.NotSelection(s.Find("*").FilterSelection(s))
}
