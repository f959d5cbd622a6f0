package web

import (
	"context"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html/atom"
)

func renderHTML(ctx context.Context, page Page, u *url.URL, r Request) (Page, error) {
	root, cut, err := parseHTML(ctx, page.Text)
	if err != nil {
		return Page{}, err
	}
	doc := goquery.NewDocumentFromNode(root)
	page.Title = pageTitle(doc)
	page.Truncated = page.Truncated || cut
	base := baseURL(doc, u)
	scripted := doc.Find("script:not([type='application/ld+json']), noscript").Length() > 0
	dropUnseen(doc)
	whole := textOf(doc.Find("body").Nodes)
	content, left, err := choose(doc, r.Selector)
	if err != nil {
		return Page{}, err
	}
	if r.Selector == "" {
		page.KeptPercent, page.RemovedParts = share(textOf(content.Nodes), whole), left
	}
	resolveLinks(content, base)
	markScripts(content)
	tidyCode(content)
	if bound(content.Nodes[0]) {
		page.Truncated = true
	}
	if page.Text, err = write(ctx, content, r.Format); err != nil {
		return Page{}, err
	}
	if strings.TrimSpace(page.Text) == "" {
		switch {
		case scripted:
			page.Note = "The page has no text without JavaScript; look for an API, a feed or the source of its content."
		case r.Selector != "":
			page.Note = "What the selector names has no text."
		default:
			page.Note = "The page is empty."
		}
	}
	return page, nil
}

// choose returns one element with the content and descriptions of removed parts: the selected
// elements, or the main content if there is no selector.
func choose(doc *goquery.Document, selector string) (content *goquery.Selection, left []string, err error) {
	if selector != "" {
		content, err = selected(doc, selector)
		return content, nil, err
	}
	content, left = mainContent(doc)
	return wrap(content), left, nil
}

// share returns part/whole in percent: 100 only if they are equal, 0 only for 0.
func share(part, whole int) int {
	switch {
	case whole == 0 || part >= whole:
		return 100
	case part == 0:
		return 0
	}
	return min(max(100*part/whole, 1), 99)
}

func selected(doc *goquery.Document, selector string) (*goquery.Selection, error) {
	// goquery treats an invalid selector as one without matches; a valid one with ", *" always has
	// some.
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

// landmarks lists elements on the page that a selector could use.
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

// plainID reports whether id needs no escaping in a selector and is too short to carry a message
// from the page.
func plainID(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return id != "" && len(id) <= 40 && strings.ContainsAny(id[:1], letters) && strings.Trim(id, letters+"0123456789-_") == ""
}

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
