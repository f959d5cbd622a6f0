package markdown

import (
	"strings"
	"unicode/utf8"
)

// Form is a set of inline styles. Forms nest.
type Form uint8

// The forms.
const (
	Strong Form = 1 << iota
	Emphasis
	Strike
	CodeSpan
	Link
	Address // a link's target, if the text differs
	Hint    // added by the program
	Break   // line break without text
)

// Span is a piece of a paragraph.
type Span struct {
	Text string
	Form Form
	// Offset is the text's source offset. If Exact is set, Text equals the source bytes from there.
	Offset int
	Exact  bool
	// Remark is the number of a remark at this position, from 1; see Remarked. Its text is empty.
	Remark int
}

// fill is the length from which a line counts as wrapped to fit a page: its newline then becomes a
// space, as in CommonMark. Models break shorter lines on purpose: lists without marks, verses.
const fill = 60

// Inline parses the content of a paragraph, heading or cell. The source before settled parses the
// same whatever follows, except for its last characters.
func Inline(s string) (spans []Span, settled int) {
	if !special(s) {
		return []Span{{Text: s, Exact: true}}, len(s)
	}
	r := reader{s: s, loose: len(s)}
	for r.pos < len(s) {
		r.next()
	}
	r.flush()
	if len(r.opens) > 0 {
		r.unsettle(r.nodes[r.opens[0].node].Offset)
	}
	r.emphasis(0)
	return r.spans(), r.loose
}

// unsettle records that later text may close a construct begun at i.
func (r *reader) unsettle(i int) { r.loose = min(r.loose, i) }

// special reports whether s may contain more than plain text.
func special(s string) bool {
	return strings.ContainsAny(s, "`*_~\\[<&\n\t") || strings.Contains(s, "://") || strings.Contains(s, "www.")
}

type reader struct {
	s         string
	pos       int
	textStart int // text from here to pos is not yet in a node
	nodes     []node
	runs      []delimiter
	opens     []bracket
	unended   [maxTicks + 1]bool // no later run with this many backticks exists
	noTag     bool               // no > follows
	loose     int                // start of a construct without an end
}

// maxTicks is the longest backtick run with a meaning.
const maxTicks = 16

// node is a piece of text; on and off are the forms that begin and end before it.
type node struct {
	Span
	on, off forms
}

// forms counts each form, since forms may nest in themselves.
type forms struct{ strong, emphasis, strike, link int16 }

func (r *reader) next() {
	s, i := r.s, r.pos
	switch c := s[i]; c {
	case '\\':
		r.escape()
	case '`':
		r.code()
	case '*', '_', '~':
		r.delimiter()
	case '[':
		r.bracket(false)
	case '!':
		if i+1 < len(s) && s[i+1] == '[' {
			r.bracket(true)
			return
		}
		r.pos++
	case ']':
		r.closeBracket()
	case '<':
		r.angle()
	case '&':
		r.entity()
	case '\n':
		r.newline()
	case '\t':
		r.emit(1, Span{Text: " "})
	case 'h', 'w':
		if n := r.address(); n > 0 {
			r.emit(n, Span{Text: s[i : i+n], Form: Link, Exact: true})
			return
		}
		r.pos++
	default:
		r.pos++
	}
}

func (r *reader) flush() {
	if r.textStart < r.pos {
		r.nodes = append(r.nodes, node{Span: Span{Text: r.s[r.textStart:r.pos], Offset: r.textStart, Exact: true}})
		r.textStart = r.pos
	}
}

func (r *reader) emit(n int, span Span) {
	r.flush()
	span.Offset = r.pos
	r.nodes = append(r.nodes, node{Span: span})
	r.pos += n
	r.textStart = r.pos
}

func (r *reader) escape() {
	switch {
	case r.pos+1 == len(r.s):
		r.pos++
	case r.s[r.pos+1] == '\n':
		r.emit(2, Span{Form: Break})
		r.skipSpaces()
	case punctuation(r.s[r.pos+1]):
		r.flush()
		r.textStart = r.pos + 1 // text continues without the backslash
		r.pos += 2
	default:
		r.pos++
	}
}

func punctuation(b byte) bool {
	return b >= '!' && b <= '/' || b >= ':' && b <= '@' || b >= '[' && b <= '`' || b >= '{' && b <= '~'
}

func (r *reader) code() {
	n := run(r.s, r.pos)
	end := -1
	if n <= maxTicks && !r.unended[n] {
		end = ticks(r.s, r.pos+n, n)
		r.unended[n] = end < 0
	}
	if end < 0 {
		r.unsettle(r.pos)
		r.pos += n
		return
	}
	text := r.s[r.pos+n : end]
	span := Span{Text: strings.ReplaceAll(text, "\n", " "), Form: CodeSpan}
	if t := span.Text; len(t) > 2 && t[0] == ' ' && t[len(t)-1] == ' ' && strings.Trim(t, " ") != "" {
		span.Text = t[1 : len(t)-1]
	}
	r.emit(end+n-r.pos, span)
}

// run returns how often the character at i is repeated.
func run(s string, i int) int {
	n := 1
	for i+n < len(s) && s[i+n] == s[i] {
		n++
	}
	return n
}

func ticks(s string, from, n int) int {
	for {
		i := strings.IndexByte(s[from:], '`')
		if i < 0 {
			return -1
		}
		k := run(s, from+i)
		if k == n {
			return from + i
		}
		from += i + k
	}
}

// newline ends a line. Two spaces before it, or a short line, make a break.
func (r *reader) newline() {
	text := strings.TrimRight(r.s[r.textStart:r.pos], " ")
	hard := r.pos-r.textStart-len(text) >= 2
	start := strings.LastIndexByte(r.s[:r.pos], '\n') + 1
	hard = hard || utf8.RuneCountInString(r.s[start:r.pos]) < fill
	at := r.pos
	r.pos = r.textStart + len(text)
	r.flush()
	r.pos, r.textStart = at, at
	if hard {
		r.emit(1, Span{Form: Break})
	} else {
		r.emit(1, Span{Text: " "})
	}
	r.skipSpaces()
}

func (r *reader) skipSpaces() {
	for r.pos < len(r.s) && r.s[r.pos] == ' ' {
		r.pos++
	}
	r.textStart = r.pos
}
