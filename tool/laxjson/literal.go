package laxjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Python reads a Python literal at the start of a text, as in some models' calls, and returns the
// rest.
func Python(text string) (t *Tree, rest string, ok bool) {
	var did Steps
	r := reader{text: text, did: &did, in: python}
	t, ok = r.value()
	return t, r.text[min(r.at, len(r.text)):], ok
}

// language is a value's syntax.
type language int

const (
	lax    language = iota // JSON, as models write it
	python                 // no comments, any Python quotes and escapes, tuples as lists
)

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

// pythonEscape reads an escape's rest. Python keeps a backslash before unknown letters.
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
