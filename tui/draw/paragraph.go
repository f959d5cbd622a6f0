package draw

import (
	"strings"

	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// paragraph draws a paragraph or heading and returns how many bytes are drawn: all if whole,
// otherwise those whose rows cannot change.
func (d *leafDrawer) paragraph(b *markdown.Block, base Style, whole bool) int {
	text := string(b.Text)
	source := strings.TrimPrefix(text, "\n") // ends an already drawn line
	box, marked := Row{}, d.leaf.marked
	if !marked {
		source, box = d.task(b, source)
	}
	m := d.margins(b)
	if box.w > 0 {
		m.First, m.Continuation = d.boxed(b, m, box)
	}
	lines, settled := d.inline(source, base)
	end := cut{line: len(lines), source: len(source)}
	if !whole {
		limit := min(settled, len(source)*3/4)
		if last := strings.LastIndexByte(source, '\n') + 1; last > 0 && len(source)-last < someParagraph {
			limit = min(limit, last) // the last line may be a table header
		}
		end = d.cut(lines, m, limit)
		if end.source == 0 && len(source) < longParagraph {
			d.leaf.marked, d.leaf.wait = marked, len(text)*3/2
			return 0
		}
		if end.source == 0 {
			end = d.cut(lines, m, len(source)*3/4)
		}
		if end.source == 0 {
			end = cut{line: len(lines), source: len(source)}
		}
		d.leaf.wait = someParagraph
	}
	for i, line := range lines {
		if i > end.line {
			break
		}
		rows := d.theme.Wrap(nil, d.w, m, line.spans...)
		if i == end.line {
			rows = rows[:end.rows]
		}
		d.rows = append(d.rows, rows...)
		m.First = m.Continuation
	}
	return len(text) - len(source) + end.source
}

// task removes a leading task checkbox from an item.
func (d *leafDrawer) task(b *markdown.Block, s string) (rest string, box Row) {
	if n := len(b.In); n == 0 || b.In[n-1].Quote || !b.In[n-1].Fresh || len(s) < 4 || s[0] != '[' || s[2] != ']' || s[3] != ' ' {
		return s, Row{}
	}
	p := d.theme.Pen()
	switch mark := s[1] | 0x20; {
	case d.bare && mark == ' ':
		p.Fixed(Plain, "not done: ")
	case d.bare && mark == 'x':
		p.Fixed(Plain, "done: ")
	case mark == ' ':
		p.Fixed(Dim, "☐ ")
	case mark == 'x':
		p.Fixed(Good, "☑ ")
	default:
		return s, Row{}
	}
	return s[4:], p.Done()
}

// boxed replaces a task's bullet by its checkbox, or after its number.
func (d *leafDrawer) boxed(b *markdown.Block, m Margins, box Row) (first, rest Row) {
	if last := len(b.In) - 1; b.In[last].Number < 0 {
		outer := b.In[:last]
		m.First, m.Continuation = d.margin(outer, firstMargin), d.margin(outer, restMargin)
	}
	first = d.theme.Pen().Row(m.First).Row(box).Done()
	return first, d.theme.Pen().Row(m.Continuation).Pad(m.Continuation.w + box.w).Done()
}

// inlineLine is a part that begins on its own row.
type inlineLine struct {
	spans  []Span
	source []source
}

// source is a span's offset in the Markdown source; exact means that their bytes are equal from
// there on.
type source struct {
	at    int
	exact bool
	plain bool // without emphasis
}

// inline parses a paragraph's content and returns at least one line.
func (d *leafDrawer) inline(s string, base Style) (lines []inlineLine, settled int) {
	lines = make([]inlineLine, 1)
	spans, settled := markdown.Inline(s)
	if d.bare {
		spans = markStruck(spans)
	}
	spans = markdown.Remarks(spans)
	for i, span := range spans {
		if span.Form&markdown.Break != 0 {
			lines = append(lines, inlineLine{})
			continue
		}
		line := &lines[len(lines)-1]
		if span.Remark > 0 {
			if span.Remark <= len(d.remarks) {
				line.spans = append(line.spans, d.remarks[span.Remark-1].span(d.theme, i+1 < len(spans) && spans[i+1].Form&markdown.Break == 0))
				line.source = append(line.source, source{span.Offset, false, true})
			}
			continue
		}
		text := safeterm.Clean(markdown.Signless(span.Text))
		if span.Form&markdown.Address != 0 {
			text = safeterm.Name(span.Text) // a link's address hides nothing
		}
		line.spans = append(line.spans, Span{inlineStyle(span.Form, base), text})
		line.source = append(line.source, source{span.Offset, span.Exact && text.String() == span.Text, span.Form == 0})
	}
	return lines, settled
}

// markStruck adds words around struck-out text, for output without attributes.
func markStruck(spans []markdown.Span) []markdown.Span {
	var out []markdown.Span
	struck := false
	for i, s := range spans {
		if now := s.Form&markdown.Strike != 0; now != struck {
			struck = now
			out = append(out, markdown.Span{Text: map[bool]string{true: "(deleted: ", false: ")"}[now], Offset: s.Offset})
		}
		out = append(out, s)
		if i == len(spans)-1 && struck {
			out = append(out, markdown.Span{Text: ")", Offset: s.Offset})
		}
	}
	return out
}

func inlineStyle(f markdown.Form, base Style) Style {
	s := base
	switch {
	case f&markdown.CodeSpan != 0:
		s = Code | base&^base.role()
	case f&(markdown.Address|markdown.Hint) != 0:
		return Dim
	case f&markdown.Link != 0:
		s = Link | base&^base.role()
	}
	if f&markdown.Strong != 0 {
		s |= Strong
	}
	if f&markdown.Emphasis != 0 {
		s |= Slanted
	}
	if f&markdown.Strike != 0 {
		s |= Struck
	}
	return s
}

// cut is a position between two rows: after rows in a line and source bytes in the text.
type cut struct{ line, rows, source int }

// cut returns the last row that begins before limit in the source, preferably without open
// emphasis. Its source is 0 if there is none.
func (d *leafDrawer) cut(lines []inlineLine, m Margins, limit int) cut {
	var best, last cut
	first := max(d.w-m.First.w, 1)
	rest := max(d.w-m.Continuation.w, 1)
	if max(m.First.w, m.Continuation.w) >= d.w {
		first, rest = d.w, d.w
	}
	for i, line := range lines {
		row := 0
		d.theme.counts.breaks(join(line.spans).text, first, rest, false, func(from, _ int) {
			at, plain := line.at(from)
			if at > 0 && at <= limit {
				last = cut{i, row, at}
				if plain {
					best = last
				}
			}
			row++
		})
		first = rest
	}
	if best.source > 0 {
		return best
	}
	return last
}

// at returns the source offset of a line's byte, or 0 if it has none.
func (l inlineLine) at(from int) (at int, plain bool) {
	begin := 0
	for i, s := range l.spans {
		if from < begin+s.Text.Len() {
			if l.source[i].exact || from == begin {
				return l.source[i].at + from - begin, l.source[i].plain
			}
			return 0, false
		}
		begin += s.Text.Len()
	}
	return 0, false
}
