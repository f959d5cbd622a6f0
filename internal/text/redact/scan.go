package redact

import (
	"strings"

	"adze/internal/text/kern"
)

// match looks for a secret whose kind begins at i. open means that more text could complete or
// extend one, from the span's start on. An empty span means no match.
type match func(s string, i int) (found Span, open bool)

// kind is a class of secrets recognized by a prefix.
type kind struct {
	prefix string
	fold   bool            // ignore case
	rest   func(byte) bool // class of the first three bytes after the prefix; nil for any
	match  match
}

// scan appends the secrets recognized by shape or context, in one pass from a byte on. Unless
// ended, it also returns the offset from which more text could change the result, or len(s).
func scan(s string, from int, ended bool) (out []Span, open int) {
	return (*Masker)(nil).find(s, from, ended)
}

// find is scan with the masker's known values. Most bytes take one table lookup.
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
	next := from      // earlier text is part of a match
	escaped := len(s) // offset after an escape, checked whatever precedes it
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

// word reports word characters; a key does not begin inside a word.
func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// boundary reports whether a word may begin at i: at the start, after a non-word character, and
// after an escape such as \n, \u003d or %3D, whose last letter only looks like part of the word.
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

// shortEscapes are the letters with a meaning after a backslash.
const shortEscapes = "nrtbf"

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// run returns the end of the class's characters from i on.
func run(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) {
		i++
	}
	return i
}
