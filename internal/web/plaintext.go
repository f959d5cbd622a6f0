package web

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// writeText converts content to plain text: separate paragraphs, marked list items, code unchanged.
func writeText(root *html.Node) string {
	w := textWriter{}
	w.node(root)
	return strings.TrimSpace(w.b.String()) + "\n"
}

// textWriter collapses space as a browser does. Line breaks are written only before text, so nested
// blocks do not add up to many empty lines.
type textWriter struct {
	b      strings.Builder
	breaks int  // newlines pending before the next text
	space  bool // a space is pending
	code   bool
	lists  []int // for each open list, the next item's number, or -1 if unordered
}

func (w *textWriter) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return
	case html.ElementNode, html.DocumentNode:
	default:
		return
	}
	before, after := blockBreaks(n.DataAtom)
	if len(w.lists) > 0 && isList(n) {
		before, after = 1, 1
	}
	w.breaks = max(w.breaks, before)
	wasCode := w.code
	w.begin(n)
	for c := range n.ChildNodes() {
		w.node(c)
	}
	if isList(n) {
		w.lists = w.lists[:len(w.lists)-1]
	}
	w.code = wasCode
	w.breaks = max(w.breaks, after)
}

func (w *textWriter) begin(n *html.Node) {
	switch n.DataAtom {
	case atom.Br:
		w.breaks++
	case atom.Ul:
		w.lists = append(w.lists, -1)
	case atom.Ol:
		first, err := strconv.Atoi(attr(n, "start"))
		if err != nil || first < 0 {
			first = 1
		}
		w.lists = append(w.lists, first)
	case atom.Li:
		w.item()
	case atom.Pre:
		w.code = true
	case atom.Img:
		for _, a := range n.Attr {
			if a.Key == "alt" {
				w.text(a.Val)
			}
		}
	case atom.Td, atom.Th:
		if before := n.PrevSibling; before != nil && w.breaks == 0 {
			w.flush()
			w.b.WriteByte('\t')
		}
	}
}

func (w *textWriter) item() {
	w.flush()
	last := len(w.lists) - 1
	w.b.WriteString(strings.Repeat("  ", max(last, 0)))
	if last < 0 || w.lists[last] < 0 {
		w.text("- ")
		return
	}
	w.text(strconv.Itoa(w.lists[last]) + ". ")
	w.lists[last]++
}

func isList(n *html.Node) bool { return n.DataAtom == atom.Ul || n.DataAtom == atom.Ol }

func blockBreaks(a atom.Atom) (before, after int) {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Table,
		atom.Ul, atom.Ol, atom.Dl, atom.Section, atom.Article, atom.Figure, atom.Hr, atom.Details:
		return 2, 2
	case atom.Div, atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Figcaption, atom.Summary, atom.Header, atom.Footer,
		atom.Main, atom.Address, atom.Fieldset, atom.Form:
		return 1, 1
	}
	return 0, 0
}

func (w *textWriter) text(s string) {
	if w.code {
		if s != "" {
			w.flush()
			w.b.WriteString(s)
		}
		return
	}
	for i, word := range strings.Fields(s) {
		if i > 0 || strings.TrimLeft(s, " \t\r\n\f") != s {
			w.space = true
		}
		w.flush()
		w.b.WriteString(word)
	}
	if strings.TrimRight(s, " \t\r\n\f") != s {
		w.space = true
	}
}

func (w *textWriter) flush() {
	switch {
	case w.b.Len() == 0:
	case w.breaks > 0:
		w.b.WriteString("\n\n"[:min(w.breaks, 2)])
	case w.space:
		w.b.WriteByte(' ')
	}
	w.breaks, w.space = 0, false
}
