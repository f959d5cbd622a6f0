package web

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// Words in class names and ids that describe an element's role, as used by common page builders and
// news systems.
var (
	// Asides inside an article.
	noteWords = []string{"note", "tip", "warning", "info", "admonition", "callout", "important", "caution", "danger", "hint", "footnote", "footnotes", "sidenote"}
	// An article's surroundings, dropped if they hold no running text.
	aroundWords = []string{
		"nav", "navbar", "navbox", "navigation", "menu", "sidebar", "breadcrumb", "breadcrumbs", "footer", "masthead", "toolbar",
		"pagination", "pager", "catlinks", "editsection", "skip", "login", "signin", "tags", "taglist",
	}
	// Parts dropped even with running text.
	strangeWords = []string{
		"share", "sharing", "sharebar", "social", "cookie", "cookies", "consent", "gdpr", "newsletter", "subscribe", "subscription",
		"signup", "related", "recommended", "recommendations", "recirc", "advert", "adverts", "advertisement", "ads", "ad", "promo",
		"promotion", "sponsor", "sponsored", "outbrain", "taboola", "trending", "popular", "mostread", "readmore", "popup", "modal",
		"paywall", "donate", "upsell", "noprint",
	}
	// Readers' comments.
	talkWords = []string{
		"comment", "comments", "commentlist", "commentbox", "commentthread", "disqus", "respond", "livefyre", "fyre", "replies", "reactions",
		"discussion", "guestbook",
	}
	// Headings over links to other pages.
	headingsAway = []string{
		"related", "related articles", "related stories", "related posts", "related topics", "related links", "related content", "related news",
		"read more", "read next", "read also", "more stories", "more news", "most read", "most popular", "popular", "trending", "trending now",
		"recommended", "recommended for you", "you may also like", "you might also like", "you might like", "share", "share this", "share this article",
		"share this story", "share this post", "follow us", "subscribe", "latest news", "latest stories", "top stories", "editors' picks",
		"editor's picks", "don't miss", "up next", "more from", "advertisement", "sponsored", "around the web", "from the web", "newsletter",
		"sign up", "tags", "filed under", "posted in", "categories", "leave a comment", "leave a reply",
	}
	// Next to such a word, a word above names the element's layout, not its role.
	layoutWords = []string{"has", "no", "with", "without", "wrap", "wrapper", "layout", "open", "off", "enabled", "disabled", "not"}
)

func isNamed(n *html.Node, words []string) bool {
	for _, key := range []string{"class", "id", "role", "data-component", "data-testid"} {
		for name := range strings.FieldsSeq(attr(n, key)) {
			if tells(name, words) {
				return true
			}
		}
	}
	return false
}

// tells reports whether a word is the first or last part, or the middle of three, in a name such as
// articleShare, post__related-links or comments_12.
func tells(name string, words []string) bool {
	parts := nameParts(name)
	if len(parts) == 0 || slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(layoutWords, p) }) {
		return false
	}
	return slices.Contains(words, parts[0]) || slices.Contains(words, parts[len(parts)-1]) ||
		len(parts) == 3 && slices.Contains(words, parts[1])
}

// nameParts splits a name at non-letters and before capitals.
func nameParts(name string) []string {
	var parts []string
	start, small := -1, false
	for i, r := range name {
		letter := unicode.IsLetter(r)
		if start >= 0 && (!letter || small && unicode.IsUpper(r)) {
			parts = append(parts, strings.ToLower(name[start:i]))
			start = -1
		}
		if letter && start < 0 {
			start = i
		}
		small = unicode.IsLower(r)
	}
	if start >= 0 {
		parts = append(parts, strings.ToLower(name[start:]))
	}
	return parts
}
