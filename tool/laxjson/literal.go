package laxjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Other ways to write a value, in calls that models write as text. Both are read strictly.

// Python reads a literal of Python at the start of a text, and returns what follows it.
func Python(text string) (t *Tree, rest string, ok bool) {
	return literal(text, python)
}

// Gemma reads {key:<|"|>text<|"|>,n:1} at the start of a text, as Gemma 4 writes it, and with
// <escape> around texts, as FunctionGemma does. It returns what follows. A name that stands twice
// is refused.
func Gemma(text string) (t *Tree, rest string, ok bool) {
	return literal(text, gemma)
}

// language is the way in which a value is written.
type language int

const (
	lax    language = iota // JSON, as models write it
	python                 // no comments, any quotes and escapes of Python, tuples as lists
	gemma                  // JSON, but that names are bare, and texts stand between marks
)

func literal(text string, in language) (*Tree, string, bool) {
	var did Steps
	r := reader{text: text, did: &did, in: in}
	t, ok := r.value()
	return t, r.text[min(r.at, len(r.text)):], ok && (in != gemma || len(did) == 0)
}

// pythonText reads a string of Python.
func (r *reader) pythonText() (string, bool) {
	if c := r.peek(); c != '"' && c != '\'' {
		return "", false
	}
	end := r.text[r.at : r.at+1]
	if triple := strings.Repeat(end, 3); strings.HasPrefix(r.text[r.at:], triple) {
		end = triple
	}
	var b strings.Builder
	for r.at += len(end); r.at < len(r.text); {
		switch {
		case strings.HasPrefix(r.text[r.at:], end):
			r.at += len(end)
			return b.String(), true
		case r.text[r.at] == '\\':
			if !r.pythonEscape(&b) {
				return "", false
			}
		default:
			b.WriteByte(r.text[r.at])
			r.at++
		}
	}
	return "", false
}

// pythonEscape reads what follows a backslash. Python leaves a backslash before other letters
// standing.
func (r *reader) pythonEscape(b *strings.Builder) bool {
	rest := r.text[r.at:]
	if len(rest) < 2 {
		return false
	}
	simple := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': `"`, '\n': "", 'b': "\b", 'f': "\f", '0': "\x00", '/': "/"}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	switch text, ok := simple[rest[1]]; {
	case ok:
		b.WriteString(text)
		r.at += 2
		return true
	case digits[rest[1]] == 0:
		b.WriteByte('\\')
		r.at++
		return true
	}
	end := 2 + digits[rest[1]]
	if len(rest) < end {
		return false
	}
	code, err := strconv.ParseUint(rest[2:end], 16, 32)
	if err != nil || code > utf8.MaxRune || 0xD800 <= code && code <= 0xDFFF {
		return false
	}
	b.WriteRune(rune(code))
	r.at += end
	return true
}

// marked reads a text between two marks of one kind; if false, none begins here, or it does not
// end.
func (r *reader) marked() (text string, begun, ok bool) {
	for _, mark := range []string{`<|"|>`, "<escape>"} {
		if rest, ok := strings.CutPrefix(r.text[r.at:], mark); ok {
			text, _, closed := strings.Cut(rest, mark)
			r.at = min(len(r.text), r.at+2*len(mark)+len(text))
			return text, true, closed
		}
	}
	return "", false, false
}

// gemmaName reads a name, between marks, in quotes or bare.
func (r *reader) gemmaName() (string, bool) {
	r.skip()
	if text, begun, ok := r.marked(); begun {
		return text, ok
	}
	rest := strings.TrimLeft(r.text[r.at:], " \t\r\n\"")
	n := strings.IndexAny(rest, ":{},<")
	if n <= 0 {
		return "", false
	}
	r.at = len(r.text) - len(rest) + n
	name := strings.TrimRight(rest[:n], " \t\r\n\"")
	return name, name != ""
}
