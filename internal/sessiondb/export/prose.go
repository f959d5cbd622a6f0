package export

import (
	"html"
	"strings"

	"adze/tui/draw/markdown"
)

// proseHTML is what a model said, as HTML. Every piece of the source goes through web.text, and
// every tag is one of the constants here.
func proseHTML(text string, r remarks) string {
	w := &web{remarks: r}
	for _, b := range blocks(r.into(text)) {
		w.containers(b.In)
		w.block(b)
	}
	w.containers(nil)
	return w.String()
}

// web is HTML that grows, and the quotes and lists that are open in it.
type web struct {
	strings.Builder
	open    []markdown.Container
	remarks remarks
}

// text writes a text between tags, or into an attribute with double quotes.
func (w *web) text(s string) {
	w.WriteString(strings.ReplaceAll(html.EscapeString(s), "\x00", "\uFFFD"))
}

// containers closes and opens quotes and items, so that those of the next block are open.
func (w *web) containers(in []markdown.Container) {
	same := 0
	for same < len(in) && same < len(w.open) && !in[same].Fresh && in[same].Quote == w.open[same].Quote {
		same++
	}
	// A fresh item continues the list that is open at its depth.
	next := same < len(in) && same < len(w.open) && alike(in[same], w.open[same])
	for i := len(w.open) - 1; i >= same; i-- {
		switch {
		case w.open[i].Quote:
			w.WriteString("</blockquote>\n")
		case i == same && next:
			w.WriteString("</li>\n")
		default:
			w.WriteString("</li></" + list(w.open[i]) + ">\n")
		}
	}
	for i := same; i < len(in); i++ {
		switch {
		case in[i].Quote:
			w.WriteString("<blockquote>\n")
		case i == same && next:
			w.WriteString("<li>")
		default:
			w.WriteString("<" + list(in[i]) + "><li>")
		}
	}
	w.open = append(w.open[:same:same], in[same:]...)
}

// alike reports items of one list.
func alike(a, b markdown.Container) bool {
	return !a.Quote && !b.Quote && a.Delimiter == b.Delimiter && (a.Number < 0) == (b.Number < 0)
}

func list(c markdown.Container) string {
	if c.Number < 0 {
		return "ul"
	}
	return "ol"
}

func (w *web) block(b block) {
	text := string(b.Text)
	switch b.Kind {
	case markdown.Rule:
		w.WriteString("<hr>\n")
	case markdown.Empty:
	case markdown.Code:
		w.WriteString("<pre><code>")
		w.text(strings.TrimSuffix(text, "\n"))
		w.WriteString("</code></pre>\n")
	case markdown.HTML:
		w.WriteString("<pre>")
		w.text(text)
		w.WriteString("</pre>\n")
	case markdown.Heading:
		tag := []string{"h3", "h4", "h5", "h6"}[min(3, max(0, b.Level-1))]
		w.WriteString("<" + tag + ">")
		w.inline(text)
		w.WriteString("</" + tag + ">\n")
	case markdown.Table:
		w.table(text)
	default:
		w.WriteString("<p>")
		w.inline(text)
		w.WriteString("</p>\n")
	}
}

// table writes rows of cells; the first one is the header.
func (w *web) table(text string) {
	w.WriteString("<table>\n")
	cell := "th"
	for line := range strings.SplitSeq(text, "\n") {
		w.WriteString("<tr>")
		for _, c := range markdown.Cells(line) {
			w.WriteString("<" + cell + ">")
			w.inline(c)
			w.WriteString("</" + cell + ">")
		}
		w.WriteString("</tr>\n")
		cell = "td"
	}
	w.WriteString("</table>\n")
}

// inline writes what is inside of a paragraph. Where a link leads stands behind its text and is the
// link itself, so that nobody is led elsewhere than they read.
func (w *web) inline(text string) {
	spans, _ := markdown.Inline(text)
	for _, s := range markdown.Remarks(spans) {
		if s.Remark > 0 {
			w.WriteString(`<span class="remark">`)
			w.text(w.remarks.at(s.Remark))
			w.WriteString("</span>")
			continue
		}
		if s.Form&markdown.Break != 0 {
			w.WriteString("<br>\n")
			continue
		}
		var closing string
		for _, f := range []struct {
			form markdown.Form
			tag  string
		}{{markdown.Strong, "strong"}, {markdown.Emphasis, "em"}, {markdown.Strike, "s"}, {markdown.CodeSpan, "code"}} {
			if s.Form&f.form != 0 {
				w.WriteString("<" + f.tag + ">")
				closing = "</" + f.tag + ">" + closing
			}
		}
		if s.Form&(markdown.Link|markdown.Address) != 0 {
			w.address(s.Text)
		} else {
			w.text(markdown.Signless(s.Text))
		}
		w.WriteString(closing)
	}
}

// address writes a text, and makes a link of it when it is an address of the web.
func (w *web) address(text string) {
	at := strings.TrimSuffix(strings.TrimPrefix(text, " ("), ")")
	if !webAddress(at) || strings.ContainsFunc(at, func(r rune) bool { return r <= ' ' || r == '"' || r == '<' || r == '>' || r == '\\' }) {
		w.text(text)
		return
	}
	before, after, _ := strings.Cut(text, at)
	w.text(before)
	w.WriteString(`<a rel="noreferrer noopener" href="` + html.EscapeString(at) + `">`)
	w.text(at)
	w.WriteString("</a>")
	w.text(after)
}
