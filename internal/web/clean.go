package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const unseen = "script, style, template, iframe, object, embed, applet, canvas, audio, video, svg, map, datalist," +
	"link, meta, base, input, select, textarea, button, dialog:not([open]), [hidden], [aria-hidden=true]," +
	".gutter, .linenos, .linenodiv, .line-numbers-rows, .lineno, .sr-only, .visually-hidden"

// dropUnseen removes content that a user looking at the page does not see: hidden text is a known
// way to inject instructions.
func dropUnseen(doc *goquery.Document) {
	doc.Find(unseen).Remove()
	doc.Find("[style]").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return styledAway(s.AttrOr("style", ""))
	}).Remove()
	if readable(doc.Nodes[0]) {
		doc.Find("noscript").Remove() // otherwise this is the page's only text without JavaScript
	}
	dropComments(doc.Nodes)
}

// readable reports whether n is text outside head and noscript.
func readable(n *html.Node) bool {
	if n.DataAtom == atom.Noscript || n.DataAtom == atom.Head {
		return false
	}
	if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
		return true
	}
	for c := range n.ChildNodes() {
		if readable(c) {
			return true
		}
	}
	return false
}

func styledAway(style string) bool {
	for declaration := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		switch strings.TrimSpace(name) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size":
			if strings.Trim(value, "0.%pxemrt") == "" && strings.HasPrefix(value, "0") {
				return true
			}
		}
	}
	return false
}

func dropComments(roots []*html.Node) {
	var comments []*html.Node
	for _, root := range roots {
		for n := range root.Descendants() {
			if n.Type == html.CommentNode {
				comments = append(comments, n)
			}
		}
	}
	for _, n := range comments {
		n.Parent.RemoveChild(n)
	}
}

func pageTitle(doc *goquery.Document) string {
	title := doc.Find("head title").First().Text()
	if strings.TrimSpace(title) == "" {
		title = doc.Find("meta[property='og:title']").AttrOr("content", "")
	}
	if strings.TrimSpace(title) == "" {
		title = doc.Find("h1").First().Text()
	}
	return firstLine(title, 300)
}

func baseURL(doc *goquery.Document, page *url.URL) *url.URL {
	href, ok := doc.Find("base[href]").First().Attr("href")
	if !ok {
		return page
	}
	ref, err := url.Parse(strings.TrimSpace(href))
	if err != nil {
		return page
	}
	return page.ResolveReference(ref)
}

// resolveLinks makes links and images absolute and removes targets that are not pages: scripts,
// inline data, empty links. A link that only marks a heading is removed with its text.
func resolveLinks(content *goquery.Selection, base *url.URL) {
	content.Find("a").Each(func(_ int, a *goquery.Selection) {
		href, ok := absolute(base, a.AttrOr("href", ""))
		mark := strings.TrimSpace(a.Text())
		switch {
		case a.HasClass("headerlink") || slices.Contains([]string{"#", "¶", "§", "🔗"}, mark):
			a.Remove()
		case !ok:
			a.RemoveAttr("href")
			a.ReplaceWithSelection(a.Contents())
		default:
			a.SetAttr("href", href)
		}
	})
	content.Find("img").Each(func(_ int, img *goquery.Selection) {
		src, ok := absolute(base, img.AttrOr("src", ""))
		if !ok {
			src, ok = absolute(base, img.AttrOr("data-src", ""))
		}
		if !ok {
			img.ReplaceWithNodes(&html.Node{Type: html.TextNode, Data: img.AttrOr("alt", "")})
			return
		}
		img.SetAttr("src", src)
	})
}

// absolute resolves a link; it returns false if a reader cannot follow it.
func absolute(base *url.URL, ref string) (string, bool) {
	ref = strings.TrimSpace(ref)
	u, err := url.Parse(ref)
	if err != nil || ref == "" || len(ref) > MaxURL {
		return "", false
	}
	u = base.ResolveReference(u)
	switch u.Scheme {
	case "http", "https", "mailto", "ftp", "tel":
		return u.String(), true
	}
	return "", false
}
