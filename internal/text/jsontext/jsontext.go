// Package jsontext encodes values with long texts as JSON without copying the texts.
//
// The one rule: the output equals that of encoding/json without HTML escapes. encoding/json copies
// a text several times while growing: for an answer of 18 MB it took five times as much.
//
// Start reading at Encode. Known limits: the caller names the fields with long texts.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Long is the size in bytes from which a text is handled separately.
const Long = 64 << 10

// Encode encodes v on one line. The texts are in v; long ones bypass the encoder.
func Encode(v any, texts ...*string) ([]byte, error) {
	c, err := Cut(v, texts...)
	if err != nil || len(c.long) == 0 {
		return c.Raw, err
	}
	size := len(c.Raw)
	for _, text := range c.long {
		size += Size(text)
	}
	out := make([]byte, 0, size)
	c.Pieces(func(raw []byte) { out = append(out, raw...) }, func(text string) { out = Append(out, text) })
	return out, nil
}

// Line is an encoded value with marks instead of its long texts.
type Line struct {
	Raw   []byte
	long  []string
	marks []string // as encoded in Raw
}

// Cut encodes v on one line without its long texts, which stay unchanged.
func Cut(v any, texts ...*string) (Line, error) {
	var l Line
	var away []*string
	for _, t := range texts {
		if len(*t) >= Long {
			mark := fmt.Sprintf("\x00%d\x00", len(away))
			away, l.long, l.marks = append(away, t), append(l.long, *t), append(l.marks, string(Append(nil, mark)))
			*t = mark
		}
	}
	var err error
	l.Raw, err = Marshal(v)
	for i, t := range away {
		*t = l.long[i]
	}
	for _, mark := range l.marks {
		if err == nil && bytes.Count(l.Raw, []byte(mark)) != 1 { // the value contains the mark itself
			l = Line{}
			l.Raw, err = Marshal(v)
			break
		}
	}
	return l, err
}

// Pieces passes the pieces of the line in order: JSON to raw, texts to text.
func (l Line) Pieces(raw func([]byte), text func(string)) {
	rest := l.Raw
	for len(rest) > 0 {
		at, n := l.next(rest)
		raw(rest[:at])
		if n < 0 {
			return
		}
		text(l.long[n])
		rest = rest[at+len(l.marks[n]):]
	}
}

// next returns the offset and number of the first mark, or the end and -1.
func (l Line) next(raw []byte) (at, n int) {
	at, n = len(raw), -1
	for i, mark := range l.marks {
		if x := bytes.Index(raw, []byte(mark)); x >= 0 && x < at {
			at, n = x, i
		}
	}
	return at, n
}

// Marshal is json.Marshal without the escapes for <, > and &, which only HTML needs.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

const piece = 16 << 10

// Append appends s as a JSON string.
func Append(dst []byte, s string) []byte {
	dst = append(dst, '"')
	Pieces(s, func(quoted []byte) { dst = append(dst, quoted...) })
	return append(dst, '"')
}

// Size returns the number of bytes that Append adds.
func Size(s string) int {
	n := 2
	Pieces(s, func(quoted []byte) { n += len(quoted) })
	return n
}

// Pieces quotes a text in pieces, without the surrounding quotes, and splits no rune.
func Pieces(s string, with func([]byte)) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for s != "" {
		cut := uncut(s, min(piece, len(s)))
		b.Reset()
		_ = enc.Encode(s[:cut]) // cannot fail for a string
		with(b.Bytes()[1 : b.Len()-2])
		s = s[cut:]
	}
}

// uncut moves a cut before the rune it splits. A rune has at most three bytes after its first.
func uncut(s string, at int) int {
	for back := range min(utf8.UTFMax, at) {
		if at == len(s) || utf8.RuneStart(s[at-back]) {
			return at - back
		}
	}
	return at
}
