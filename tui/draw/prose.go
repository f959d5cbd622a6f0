package draw

import (
	"strings"
	"unicode/utf8"

	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// longLine is from how many bytes on a line is not waited for: it is read in pieces of that length.
const longLine = 2 << 10

// Prose is text that a model writes, laid out as Markdown while it arrives. A finished line is read
// once for a width, and what is finished is laid out once; so adding a piece costs the piece, not
// the text. The rows follow from the text alone, not from the pieces in which it came. The zero
// value is empty.
type Prose struct {
	stream safeterm.Stream
	text   strings.Builder // clean
	ended  bool
	layout proseLayout
	// remarked is the text with the places of remarks; if there are none, it is not used.
	remarked string
	remarks  []Remark
}

// Remark is a remark of the program behind a clause of a model's text.
type Remark struct {
	Quote string // the clause, without the marks of Markdown
	Style Style
	Text  string // it begins with a sign that no text of a model is drawn with
}

// span draws a remark. Brackets say where it ends, unless a colour and the end of the row do.
func (r Remark) span(t *Theme, within bool) Span {
	text := r.Text
	if within || t.sgr[Good] == "" {
		text = "[" + text + "]"
	}
	return Span{r.Style, safeterm.Name(text)}
}

// Remark puts remarks into a text that is complete. It returns those for which there is no place:
// it is not clear where their clause stands.
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

// End says that the text is complete.
func (p *Prose) End() {
	p.text.WriteString(p.stream.End().String())
	p.ended = true
}

// String is the clean text so far.
func (p *Prose) String() string { return p.text.String() }

// Len is its length in bytes.
func (p *Prose) Len() int { return p.text.Len() }

// Forget drops the layout; the text stays.
func (p *Prose) Forget() { p.layout = proseLayout{} }

// Rows lays out the text. The rows belong to p until its next change.
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

// proseLayout is what is known for one width. The text before done is read; rows[:closed] will not
// change.
type proseLayout struct {
	leafDrawer
	look   Theme // as the theme was
	md     markdown.Parser
	done   int
	within bool // done is within a line
	closed int
	seen   int // length of the text that rows are of
	ended  bool
}

// read reads the finished lines, and long pieces of one that is not.
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

// line reads a line or a piece of one, and draws what it finished. Whole: this is the line's end.
func (l *proseLayout) line(s string, whole bool) {
	if l.within {
		l.md.More(s)
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

// end reads what is left of a text that is complete.
func (l *proseLayout) end(text string) {
	if l.done < len(text) {
		l.line(text[l.done:], true)
	}
	l.md.End()
	l.finished()
	l.done, l.closed, l.ended = len(text), len(l.rows), true
	l.md, l.leaf = markdown.Parser{}, leaf{}
}

// tail draws what is not finished, as if it ended here. It is drawn by a copy, and again with the
// next frame.
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
