package draw

import (
	"strings"

	"adze/internal/safeterm"
)

// longPiece is how much of an unfinished line is laid out again with every frame; what is before it is
// final. It bounds the work of a paragraph that never ends.
const longPiece = 2 << 10

// Prose is text that a model writes, laid out as simple Markdown while it arrives. Finished lines are laid
// out once for a width; so adding a piece costs the piece, not the text. The zero value is empty.
type Prose struct {
	stream safeterm.Stream
	text   strings.Builder // clean
	layout proseLayout
}

// proseLayout is what is known for one width. The text before done is in rows[:closed].
type proseLayout struct {
	w      int
	rows   []Row
	closed int
	done   int
	fence  string // the mark that closes the code block we are in
	inside bool   // done is within a line
}

// Add appends a piece as it arrives.
func (p *Prose) Add(piece string) { p.text.WriteString(p.stream.Add(piece).String()) }

// End says that the text is complete.
func (p *Prose) End() { p.text.WriteString(p.stream.End().String()) }

// String is the clean text so far.
func (p *Prose) String() string { return p.text.String() }

// Len is its length in bytes.
func (p *Prose) Len() int { return p.text.Len() }

// Forget drops the layout; the text stays.
func (p *Prose) Forget() { p.layout = proseLayout{} }

// Rows lays out the text. The rows belong to p until its next change.
func (p *Prose) Rows(t *Theme, w int) []Row {
	l := &p.layout
	if l.w != w {
		*l = proseLayout{w: w}
	}
	l.rows = l.rows[:l.closed]
	text := p.text.String()
	for {
		end := strings.IndexByte(text[l.done:], '\n')
		if end < 0 {
			break
		}
		l.line(t, text[l.done:l.done+end])
		l.done += end + 1
		l.closed, l.inside = len(l.rows), false
	}
	l.tail(t, text)
	return l.rows
}

// tail lays out the line that is still being written.
func (l *proseLayout) tail(t *Theme, text string) {
	open := text[l.done:]
	if len(open) > longPiece {
		last := 0
		breaks(open, l.w, l.w, l.fence != "", func(from, _ int) { last = from })
		if last > 0 {
			l.line(t, strings.TrimRight(open[:last], " ")) // spaces at a break belong to no row
			l.closed, l.inside = len(l.rows), true
			l.done += last
			open = open[last:]
		}
	}
	if open != "" {
		fence := l.fence // what an unfinished line opens may turn out to be something else
		l.line(t, open)
		l.fence = fence
	}
}

// line lays out one line, or the rest of one.
func (l *proseLayout) line(t *Theme, s string) {
	body := strings.TrimLeft(s, " ")
	switch {
	case l.inside:
		l.wrap(t, Margins{Hard: l.fence != ""}, l.spans(s)...)
	case l.fence != "":
		l.code(t, s, body)
	case strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~"):
		l.fence = body[:3]
		if lang := strings.Trim(body, "`~ "); lang != "" {
			l.rows = append(l.rows, t.Pen().Fixed(Border, "│ ").Put(Dim, safeterm.Clean(lang)).Done().Fit(l.w))
		}
	case body == "":
		l.blank()
	default:
		l.paragraph(t, s, body)
	}
}

func (l *proseLayout) code(t *Theme, s, body string) {
	if strings.HasPrefix(body, l.fence) {
		l.fence = ""
		return
	}
	bar := t.Pen().Fixed(Border, "│ ").Done()
	l.wrap(t, Margins{First: bar, Rest: bar, Hard: true}, Span{Code, safeterm.Clean(s)})
}

// blank keeps one empty row of several, and none at the start.
func (l *proseLayout) blank() {
	if n := len(l.rows); n > 0 && l.rows[n-1].w > 0 {
		l.rows = append(l.rows, Row{})
	}
}

func (l *proseLayout) paragraph(t *Theme, s, body string) {
	indent := s[:len(s)-len(body)]
	if len(indent) > l.w/2 {
		indent = ""
	}
	if level := headingLevel(body); level > 0 {
		l.wrap(t, Margins{}, Span{Heading, safeterm.Clean(strings.Trim(body, "# "))})
		return
	}
	if isRule(body) {
		l.rows = append(l.rows, t.Pen().Rule(Border, l.w).Done())
		return
	}
	mark, rest := listMark(body)
	first, hang := t.Pen().Fixed(Plain, indent), t.Pen().Fixed(Plain, indent)
	switch {
	case mark != "":
		first.Fixed(Accent, mark)
		hang.Pad(first.Width())
	case strings.HasPrefix(body, ">"):
		rest = strings.TrimPrefix(strings.TrimPrefix(body, ">"), " ")
		first.Fixed(Border, "▎ ")
		hang.Fixed(Border, "▎ ")
	}
	l.wrap(t, Margins{First: first.Done(), Rest: hang.Done()}, inline(safeterm.Clean(rest))...)
}

func (l *proseLayout) wrap(t *Theme, m Margins, spans ...Span) {
	l.rows = t.Wrap(l.rows, l.w, m, spans...)
}

func (l *proseLayout) spans(s string) []Span {
	if l.fence != "" {
		return []Span{{Code, safeterm.Clean(s)}}
	}
	return inline(safeterm.Clean(s))
}

func headingLevel(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n > 6 || n == len(s) || n > 0 && s[n] != ' ' {
		return 0
	}
	return n
}

func isRule(s string) bool {
	s = strings.TrimRight(s, " ")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// listMark splits "- text" and "12. text"; the mark is as it is drawn.
func listMark(s string) (mark, rest string) {
	if len(s) > 1 && strings.IndexByte("-*+", s[0]) >= 0 && s[1] == ' ' {
		return "• ", strings.TrimLeft(s[2:], " ")
	}
	n := 0
	for n < len(s) && n < 4 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
		return s[:n+2], s[n+2:]
	}
	return "", s
}
