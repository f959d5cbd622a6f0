package web

import (
	"context"
	"net/url"
	"strings"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// renderHTML finds the content of an HTML page and writes it in the requested format.
func renderHTML(ctx context.Context, page Page, u *url.URL, r Request) (Page, *Error) {
	root, cut, fault := parseHTML(ctx, page.Text)
	if fault != nil {
		return Page{}, fault
	}
	doc := goquery.NewDocumentFromNode(root)
	page.Title = pageTitle(doc)
	page.Truncated = page.Truncated || cut
	base := baseURL(doc, u)
	dropUnseen(doc)
	content, fault := choose(doc, r.Selector)
	if fault != nil {
		return Page{}, fault
	}
	resolveLinks(content, base)
	tidyCode(content)
	if bound(content.Nodes[0]) {
		page.Truncated = true
	}
	if page.Text, fault = write(ctx, content, r.Format); fault != nil {
		return Page{}, fault
	}
	if strings.TrimSpace(page.Text) == "" {
		page.Note = "The page has no text without JavaScript; look for an API, a feed or the source of its content."
	}
	return page, nil
}

// choose returns one element with the content: what the selector names, or the main content.
func choose(doc *goquery.Document, selector string) (*goquery.Selection, *Error) {
	if selector != "" {
		return selected(doc, selector)
	}
	content := mainContent(doc)
	dropChrome(content)
	return wrap(content), nil
}

// selected gathers the elements that a selector names, outermost ones only.
func selected(doc *goquery.Document, selector string) (*goquery.Selection, *Error) {
	// goquery treats a selector it cannot read as one without matches; with "*" added a readable one has some.
	if len(selector) > 1000 || !doc.Find("html, body").Is(selector+", *") {
		return nil, fail(codeInvalid, "%q is not a CSS selector", firstLine(selector, 200))
	}
	found := doc.Find(selector)
	if found.Length() == 0 {
		return nil, fail(codeNoMatch, "nothing on the page matches %q; %s", firstLine(selector, 200), landmarks(doc))
	}
	inside := found.Find("*").FilterSelection(found)
	return wrap(found.NotSelection(inside)), nil
}

// landmarks names elements of the page that a selector could use.
func landmarks(doc *goquery.Document) string {
	var names []string
	for _, tag := range []string{"main", "article"} {
		if doc.Find(tag).Length() > 0 {
			names = append(names, tag)
		}
	}
	doc.Find("body [id]").EachWithBreak(func(_ int, s *goquery.Selection) bool {
		if id := s.AttrOr("id", ""); plainID(id) {
			names = append(names, "#"+id)
		}
		return len(names) < 12
	})
	if len(names) == 0 {
		return "leave it out to get the main content"
	}
	return "leave it out to get the main content, or use one of: " + strings.Join(names, ", ")
}

// plainID reports an id that is a selector as it stands, and too short to carry a message of the page.
func plainID(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return id != "" && len(id) <= 40 && strings.ContainsAny(id[:1], letters) && strings.Trim(id, letters+"0123456789-_") == ""
}

// wrap moves elements under one new parent.
func wrap(s *goquery.Selection) *goquery.Selection {
	div := element(atom.Div)
	for _, n := range s.Nodes {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
		div.AppendChild(n)
	}
	return goquery.NewDocumentFromNode(div).Selection
}

// mainContent chooses the element that holds what the page is about: where the page says so itself and
// there is text in it, that; else the container whose paragraphs weigh most; else the body.
func mainContent(doc *goquery.Document) *goquery.Selection {
	body := doc.Find("body").First()
	if body.Length() == 0 {
		return doc.Selection
	}
	sizes := measureAll(body.Nodes[0])
	whole := sizes[body.Nodes[0]].text
	for _, mark := range []string{"main, [role=main]", "article", "[itemprop=articleBody], .markdown-body, #mw-content-text"} {
		found := body.Find(mark)
		if found.Length() > 1 {
			found = found.NotSelection(found.Find("*").FilterSelection(found))
		}
		if found.Length() == 1 && 4*sizes[found.Nodes[0]].text >= whole {
			return found
		}
	}
	if best := heaviest(body, sizes); best != nil && 4*sizes[best].text >= whole {
		return goquery.NewDocumentFromNode(best).Selection
	}
	return body
}

// measure is how much text an element holds, in runes without space, and how much of it is links.
type measure struct{ text, link int }

// measureAll measures every element in one pass from the leaves up.
func measureAll(root *html.Node) map[*html.Node]measure {
	sizes := map[*html.Node]measure{}
	var walk func(n *html.Node) measure
	walk = func(n *html.Node) measure {
		var m measure
		if n.Type == html.TextNode {
			m.text = visibleRunes(n.Data)
			return m
		}
		for c := range n.ChildNodes() {
			sub := walk(c)
			m.text += sub.text
			m.link += sub.link
		}
		if n.DataAtom == atom.A {
			m.link = m.text
		}
		sizes[n] = m
		return m
	}
	walk(root)
	return sizes
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

// heaviest scores containers by the running text in them: each paragraph gives its length without links to
// its parent and half of it to the grandparent, so that the column of an article beats both its paragraphs and
// the page around it.
func heaviest(body *goquery.Selection, sizes map[*html.Node]measure) *html.Node {
	scores := map[*html.Node]int{}
	var best *html.Node
	body.Find("p, pre, blockquote, ul, ol, table, h2, h3").Each(func(_ int, s *goquery.Selection) {
		m := sizes[s.Nodes[0]]
		weight := 2 * (m.text - m.link)
		parent := s.Nodes[0].Parent
		if m.text < 25 || parent == nil {
			return
		}
		for _, n := range []*html.Node{parent, parent.Parent} {
			if n == nil || sizes[n].text == 0 {
				continue
			}
			scores[n] += weight
			if best == nil || scores[n] > scores[best] {
				best = n
			}
			weight /= 2
		}
	})
	return best
}

// dropChrome removes what surrounds the content: navigation, the page's own header and footer, and lists
// of links that name themselves as such.
func dropChrome(content *goquery.Selection) {
	content.Find("nav, aside, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary]," +
		" body > header, body > footer, form[role=search]").Remove()
	content.Find("div, ul, ol, section").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return chromeName(s.AttrOr("class", "")+" "+s.AttrOr("id", "")) && mostlyLinks(s)
	}).Remove()
}

// chromeName reports class names and ids that say navigation.
func chromeName(names string) bool {
	words := strings.FieldsFunc(strings.ToLower(names), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range words {
		switch w {
		case "nav", "navbar", "navbox", "navigation", "menu", "sidebar", "breadcrumb", "breadcrumbs", "footer", "header",
			"share", "social", "cookie", "cookies", "consent", "newsletter", "related", "pagination", "advert", "ads", "promo":
			return true
		}
	}
	return false
}

// mostlyLinks reports a short element or one of whose text more than half is links.
func mostlyLinks(s *goquery.Selection) bool {
	text, links := visibleRunes(s.Text()), 0
	s.Find("a").Each(func(_ int, a *goquery.Selection) { links += visibleRunes(a.Text()) })
	return text < 200 || 2*links > text
}
