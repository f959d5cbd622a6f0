package redact

import (
	"strings"

	"adze/internal/text/kern"
)

// match looks for a secret whose kind begins at i. open says that more text could make one of it,
// or a longer one; then start says from where on. An empty span: there is none.
type match func(s string, i int) (found Span, open bool)

// kind is a kind of secret that is told by how it begins.
type kind struct {
	prefix string
	fold   bool            // in any case
	rest   func(byte) bool // what the first three bytes behind the prefix are made of; nil for any
	match  match
}

// scan passes once over a text, from a byte on, and appends the secrets that their shape or place
// tells. Without ended it returns from where on more text could change what is found, which is
// len(s) where nothing is open.
func scan(s string, from int, ended bool) (out []Span, open int) {
	return (*Masker)(nil).find(s, from, ended)
}

// find is scan with the values that the masker knows. Most bytes cost one look into a table.
func (m *Masker) find(s string, from int, ended bool) (out []Span, open int) {
	x := kindIndex()
	pairs, known := &x.pairs, (*knownValues)(nil)
	if m != nil && m.known != nil {
		pairs, known = &m.known.pairs, m.known
	}
	var fast *vectorMarks
	if len(s)-from >= minMarked && kern.Vectors() {
		fast = &vectorMarks{pairs: pairs}
		if known != nil {
			fast.values = known.quads
		}
	}
	next := from      // no kind begins before it: there, one was found
	escaped := len(s) // behind an escape: to be looked at whatever stands before it
	for i := max(0, from-len(`\u003d`)); i < min(from, len(s)); i++ {
		if at := afterEscape(s, i); escape(s[i]) && at >= from {
			escaped = at
			break
		}
	}
	for i := from; i < len(s); i++ {
		if fast != nil {
			i = fast.next(s, i, escaped)
		} else {
			i = pairs.next(s, i, escaped)
		}
		if i == escaped {
			escaped = len(s)
		}
		if escape(s[i]) {
			if at := afterEscape(s, i); at >= 0 {
				escaped = at
			}
		}
		out = known.at(out, s, from, i)
		if i < next {
			continue
		}
		found, more := x.at(s, i).find(s, i, ended)
		if more {
			return out, i
		}
		if found.End > found.Start {
			out, next = append(out, found), found.End
		}
	}
	return out, len(s)
}

func (k *kind) try(s string, i int) (Span, bool) {
	rest := s[i:]
	if len(rest) < len(k.prefix) {
		return Span{}, strings.EqualFold(k.prefix[:len(rest)], rest) && (k.fold || k.prefix[:len(rest)] == rest)
	}
	head := rest[:len(k.prefix)]
	if head != k.prefix && !(k.fold && strings.EqualFold(head, k.prefix)) {
		return Span{}, false
	}
	return k.match(s, i)
}

// word tells what words are made of; a key does not begin in the middle of one.
func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// boundary reports whether a word may begin at i: at the start, behind what is no part of a word,
// and behind an escape such as \n, \u003d or %3D, whose last letter only looks like one.
func boundary(s string, i int) bool {
	if i == 0 || !word(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte(shortEscapes, s[i-1]) >= 0 {
		return true
	}
	if i >= 3 && s[i-3] == '%' && hexDigit(s[i-2]) && hexDigit(s[i-1]) {
		return true
	}
	if i < 6 || s[i-6] != '\\' || s[i-5] != 'u' {
		return false
	}
	for _, c := range []byte(s[i-4 : i]) {
		if !hexDigit(c) {
			return false
		}
	}
	return true
}

// shortEscapes are the letters that stand for a line's end and the like behind a backslash.
const shortEscapes = "nrtbf"

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// run is the end of the letters of a class from i on.
func run(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) {
		i++
	}
	return i
}
