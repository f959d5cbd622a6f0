package draw

import (
	"strings"
	"unicode/utf8"

	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// longLine is the length in bytes from which an unfinished line is read in pieces.
const longLine = 2 << 10

// Prose is a model's text, laid out as Markdown while it arrives. Each finished line is parsed once
// per width and each finished block is laid out once, so a piece costs by its own length. The rows
// depend only on the text, not on its division into pieces. The zero value is empty.
type Prose struct {
	stream safeterm.Stream
	text   strings.Builder // sanitized
	ended  bool
	layout proseLayout
	// remarked is the text with marked places for remarks; unused without remarks.
	remarked string
	remarks  []Remark
}

// Remark is the program's remark after a clause in a model's text.
type Remark struct {
	Quote string // the clause, without Markdown
	Style Style
	Text  string // begins with a sign that is never drawn for a model's text
}

// span draws a remark. It adds brackets unless a color and the row's end delimit it.
func (r Remark) span(t *Theme, within bool) Span {
	text := r.Text
	if within || t.sgr[Good] == "" {
		text = "[" + text + "]"
	}
	return Span{r.Style, safeterm.Name(text)}
}

// Remark adds remarks to a complete text. It returns those whose clause is not found or ambiguous.
func (p *Prose) Remark(remarks []Remark) (left []Remark) {
	var quotes []string
	for _, r := range remarks {
		quotes = append(quotes, r.Quote)
	}
	text, placed := markdown.Remarked(p.String(), quotes)
	for i, ok := range placed {
		if !ok {
			left = append(left, remarks[i])
		}
	}
	p.remarked, p.remarks = text, remarks
	p.Forget()
	return left
}

// Add appends a piece as it arrives.
func (p *Prose) Add(piece string) { p.text.WriteString(p.stream.Add(piece).String()) }

// End marks the text as complete.
func (p *Prose) End() {
	p.text.WriteString(p.stream.End().String())
	p.ended = true
}

// String returns the sanitized text so far.
func (p *Prose) String() string { return p.text.String() }

// Len returns the text's length in bytes.
func (p *Prose) Len() int { return p.text.Len() }

// Forget drops the layout; the text stays.
func (p *Prose) Forget() { p.layout = proseLayout{} }

// Rows returns the text's rows. They are valid until p changes.
func (p *Prose) Rows(t *Theme, w int) []Row {
	l := &p.layout
	if l.w != w || l.look != *t {
		*l = proseLayout{leafDrawer: leafDrawer{theme: t, w: w, bare: t.bare(), remarks: p.remarks}, look: *t}
	}
	text := p.text.String()
	if len(p.remarks) > 0 {
		text = p.remarked
	}
	if l.ended || l.seen == len(text) && !p.ended {
		return l.rows
	}
	l.rows, l.seen = l.rows[:l.closed], len(text)
	l.read(text)
	if p.ended {
		l.end(text)
		return l.rows
	}
	l.closed = len(l.rows)
	l.tail(text[l.done:])
	return l.rows
}

// proseLayout is the layout for one width. The text before done is parsed; rows[:closed] are final.
type proseLayout struct {
	leafDrawer
	look   Theme // theme used for the layout
	md     markdown.Parser
	done   int
	within bool // done is inside a line
	closed int
	seen   int // text length at the last layout
	ended  bool
}

// read parses finished lines, and long pieces from an unfinished one.
func (l *proseLayout) read(text string) {
	for {
		rest := text[l.done:]
		end := strings.IndexByte(rest, '\n')
		if end < 0 || end > longLine {
			if len(rest) <= longLine {
				return
			}
			n := longLine
			for !utf8.RuneStart(rest[n]) {
				n--
			}
			l.line(rest[:n], false)
			l.done, l.within = l.done+n, true
			continue
		}
		l.line(rest[:end], true)
		l.done, l.within = l.done+end+1, false
	}
}

// line parses a line or a piece and draws finished blocks. whole means that s ends the line.
func (l *proseLayout) line(s string, whole bool) {
	if l.within {
		l.md.Continue(s)
	} else {
		l.md.Line(s)
	}
	l.finished()
	if open := l.md.Open(); open.Kind != markdown.None {
		l.md.Take(l.progress(open, whole))
	}
}

func (l *proseLayout) finished() {
	for _, b := range l.md.Finished() {
		l.finish(&b)
	}
}

// end parses the remaining text.
func (l *proseLayout) end(text string) {
	if l.done < len(text) {
		l.line(text[l.done:], true)
	}
	l.md.End()
	l.finished()
	l.done, l.closed, l.ended = len(text), len(l.rows), true
	l.md, l.leaf = markdown.Parser{}, leaf{}
}

// tail draws the unfinished text as if it ended here. It works on a copy, and the next frame
// repeats it.
func (l *proseLayout) tail(open string) {
	try := *l
	try.md = l.md.Clone()
	try.trial = true
	if open != "" {
		try.line(open, true)
	}
	if b := try.md.Open(); b.Kind != markdown.None {
		try.finish(b)
	}
	l.rows = try.rows
}
