package web

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Superscript and subscript letters in Unicode.
var (
	raised  = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "+", "⁺", "-", "⁻", "−", "⁻", "=", "⁼", "(", "⁽", ")", "⁾", "n", "ⁿ", "i", "ⁱ")
	lowered = strings.NewReplacer("0", "₀", "1", "₁", "2", "₂", "3", "₃", "4", "₄", "5", "₅", "6", "₆", "7", "₇", "8", "₈", "9", "₉", "+", "₊", "-", "₋", "−", "₋", "=", "₌", "(", "₍", ")", "₎")
)

const (
	canRaise = "0123456789+-−=()ni"
	canLower = "0123456789+-−=()"
)

// markScripts marks superscripts and subscripts: x² and H₂O where Unicode has the letters, x^k and
// a_i otherwise, and [1] for a footnote mark. Ordinals (1st) and names (WordTM) stay as they are.
func markScripts(content *goquery.Selection) {
	content.Find("sup, sub").Each(func(_ int, s *goquery.Selection) {
		n := s.Nodes[0]
		text := strings.TrimSpace(s.Text())
		if text == "" || n.Parent == nil || !attached(n) {
			return
		}
		above := n.DataAtom == atom.Sup
		switch {
		case above && s.Find("a").Length() > 0 || above && inside(n, atom.A):
			s.ReplaceWithNodes(textNode("[" + strings.Trim(text, "[]()") + "]"))
		case above && (isOrdinal(text) || text[0] == '['):
		case above:
			s.ReplaceWithNodes(textNode(script(text, raised, canRaise, "^")))
		default:
			s.ReplaceWithNodes(textNode(script(text, lowered, canLower, "_")))
		}
	})
	for _, n := range content.Nodes {
		joinTexts(n)
	}
}

func joinTexts(root *html.Node) {
	for n := range root.Descendants() {
		for n.Type == html.TextNode && n.NextSibling != nil && n.NextSibling.Type == html.TextNode {
			n.Data += n.NextSibling.Data
			n.Parent.RemoveChild(n.NextSibling)
		}
	}
}

// attached reports whether text directly precedes an element on its line.
func attached(n *html.Node) bool {
	for before := n.PrevSibling; before != nil; before = before.PrevSibling {
		switch {
		case before.Type == html.CommentNode || before.Type == html.TextNode && before.Data == "":
			continue
		case before.Type == html.TextNode:
			return strings.TrimRight(before.Data, " \t\r\n\f") == before.Data
		}
		return !isBlock(before.DataAtom) && before.DataAtom != atom.Br
	}
	return n.Parent != nil && !isBlock(n.Parent.DataAtom) && n.Parent.Parent != nil && attached(n.Parent)
}

// isOrdinal reports superscript endings that many languages write inside a word.
func isOrdinal(text string) bool {
	switch strings.ToLower(text) {
	case "st", "nd", "rd", "th", "tm", "sm", "®", "™", "©", "er", "re", "e", "ème", "o", "a", "º", "ª", "*", "†", "‡":
		return true
	}
	return false
}

func script(text string, letters *strings.Replacer, can, mark string) string {
	switch {
	case strings.Trim(text, can) == "":
		return letters.Replace(text)
	case strings.ContainsAny(text, " +-−*/,=()") && len(text) > 1:
		return mark + "(" + text + ")"
	}
	return mark + text
}

func textNode(text string) *html.Node { return &html.Node{Type: html.TextNode, Data: text} }
