package hypertext

import (
	"strconv"
	"strings"

	"adze/internal/text/highlight"
	"adze/internal/text/markdown"
)

// Prose renders Markdown as HTML with remarks in place; left are those that could not be placed.
func Prose(text string, marks []Mark) (out string, left []Mark) {
	sections, left := Sections(text, marks)
	return strings.Join(sections, ""), left
}

func placed(text string, marks []Mark) (out string, left []Mark) {
	if len(marks) == 0 {
		return text, nil
	}
	quotes := make([]string, len(marks))
	for i, m := range marks {
		quotes[i] = m.Quote
	}
	text, at := markdown.Remarked(text, quotes)
	for i, m := range marks {
		if !at[i] {
			left = append(left, m)
		}
	}
	return text, left
}

// proseWriter writes blocks and tracks the open quotes and lists.
type proseWriter struct {
	writer
	open  []markdown.Container
	marks []Mark
}

// containers closes and opens quotes and items to match the next block's.
func (w *proseWriter) containers(in []markdown.Container) {
	same := 0
	for same < len(in) && same < len(w.open) && !in[same].Fresh && in[same].Quote == w.open[same].Quote {
		same++
	}
	// A fresh item continues the open list at its depth.
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
		case in[i].Number > 1:
			w.WriteString(`<ol start="` + strconv.Itoa(in[i].Number) + `"><li>`)
		default:
			w.WriteString("<" + list(in[i]) + "><li>")
		}
	}
	w.open = append(w.open[:same:same], in[same:]...)
}

func alike(a, b markdown.Container) bool {
	return !a.Quote && !b.Quote && a.Delimiter == b.Delimiter && (a.Number < 0) == (b.Number < 0)
}

func list(c markdown.Container) string {
	if c.Number < 0 {
		return "ul"
	}
	return "ol"
}

func (w *proseWriter) block(b markdown.Block) {
	w.containers(b.In)
	text := string(b.Text)
	switch b.Kind {
	case markdown.Rule:
		w.WriteString("<hr>\n")
	case markdown.Empty:
	case markdown.Code:
		name, _, _ := strings.Cut(strings.TrimSpace(b.Info), " ")
		w.code(highlight.Named(name), name, strings.TrimSuffix(text, "\n"))
	case markdown.HTML:
		w.WriteString("<pre>")
		w.plain(text)
		w.WriteString("</pre>\n")
	case markdown.Heading:
		// An answer may begin with any level, but a page must not skip one.
		w.WriteString(`<h3 class="level` + strconv.Itoa(b.Level) + `">`)
		w.inline(text)
		w.WriteString("</h3>\n")
	case markdown.Table:
		w.table(text, b.Align)
	default:
		w.WriteString("<p>")
		if last := len(b.In) - 1; last >= 0 && !b.In[last].Quote && b.In[last].Fresh {
			text = w.task(text)
		}
		w.inline(text)
		w.WriteString("</p>\n")
	}
}

// task writes the check box at an item's start and returns the rest.
func (w *proseWriter) task(text string) string {
	if len(text) < 4 || text[0] != '[' || text[2] != ']' || text[3] != ' ' {
		return text
	}
	switch text[1] {
	case ' ':
		w.WriteString(`<span class="task" role="img" aria-label="to do">☐</span> `)
	case 'x', 'X':
		w.WriteString(`<span class="task done" role="img" aria-label="done">☑</span> `)
	default:
		return text
	}
	return text[4:]
}

func (w *proseWriter) table(text string, align []markdown.Align) {
	w.WriteString(`<div class="wide"><table>` + "\n<thead>")
	cell, end := "th", "</thead>\n<tbody>\n"
	for line := range strings.SplitSeq(text, "\n") {
		w.WriteString("<tr>")
		for i, c := range markdown.Cells(line) {
			w.WriteString("<" + cell + column(align, i) + ">")
			w.inline(c)
			w.WriteString("</" + cell + ">")
		}
		w.WriteString("</tr>" + end)
		cell, end = "td", "\n"
	}
	w.WriteString("</tbody></table></div>\n")
}

func column(align []markdown.Align, i int) string {
	if i >= len(align) {
		return ""
	}
	switch align[i] {
	case markdown.Right:
		return ` class="right"`
	case markdown.Center:
		return ` class="center"`
	}
	return ""
}

// inline writes a paragraph's content. The URL after a link's text is the actual link, so that
// readers see where it leads.
func (w *proseWriter) inline(text string) {
	spans, _ := markdown.Inline(text)
	for _, s := range markdown.Remarks(spans) {
		if s.Remark > 0 {
			w.mark(s.Remark)
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
		switch {
		case s.Form&(markdown.Link|markdown.Address) != 0:
			w.address(s.Text)
		case s.Form&markdown.CodeSpan != 0:
			w.plain(markdown.Signless(s.Text))
		default:
			w.prose(markdown.Signless(s.Text))
		}
		w.WriteString(closing)
	}
}

func (w *proseWriter) mark(n int) {
	if n > len(w.marks) {
		return
	}
	class := "remark"
	if w.marks[n-1].Against {
		class = "remark against"
	}
	w.WriteString(`<span class="` + class + `">`)
	w.prose(w.marks[n-1].Text)
	w.WriteString("</span>")
}

// address writes a text, as a link if it is a web address.
func (w *proseWriter) address(text string) {
	at := strings.TrimSuffix(strings.TrimPrefix(text, " ("), ")")
	if !WebAddress(at) || strings.ContainsFunc(at, func(r rune) bool { return r <= ' ' || r == '"' || r == '<' || r == '>' || r == '\\' }) {
		w.prose(text)
		return
	}
	before, after, _ := strings.Cut(text, at)
	w.prose(before)
	w.WriteString(`<a rel="noreferrer noopener" href="`)
	w.plain(at)
	w.WriteString(`">`)
	w.plain(at)
	w.WriteString("</a>")
	w.prose(after)
}

// WebAddress reports whether text begins with a URL that may be linked.
func WebAddress(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}
