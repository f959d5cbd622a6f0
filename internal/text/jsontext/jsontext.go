// Package jsontext writes values with long texts in them as JSON, without copying the texts.
//
// The one rule: the bytes are those of encoding/json without its escapes for HTML. That copies a
// text several times while it grows: an answer of 18 MB took five times as much.
//
// Start reading at Encode. Known limits: the caller says where long texts may stand.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Long is from how many bytes on a text is worth a way of its own.
const Long = 64 << 10

// Encode writes v on one line. The texts are in v; long ones go past the encoder.
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
	c.Each(func(raw []byte) { out = append(out, raw...) }, func(text string) { out = Append(out, text) })
	return out, nil
}

// Line is a value without its long texts: marks stand in their place.
type Line struct {
	Raw   []byte
	long  []string
	marks []string // as they stand in Raw
}

// Cut writes v on one line, but for those of the texts in it that are long. It changes none.
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
		if err == nil && bytes.Count(l.Raw, []byte(mark)) != 1 { // somebody else wrote the same
			l = Line{}
			l.Raw, err = Marshal(v)
			break
		}
	}
	return l, err
}

// Each hands out the line from its start: what is JSON, and the texts that stand between.
func (l Line) Each(raw func([]byte), text func(string)) {
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

// next is where the first of the marks stands, and which one it is; none: the end, and -1.
func (l Line) next(raw []byte) (at, n int) {
	at, n = len(raw), -1
	for i, mark := range l.marks {
		if x := bytes.Index(raw, []byte(mark)); x >= 0 && x < at {
			at, n = x, i
		}
	}
	return at, n
}

// Marshal is json.Marshal without the escapes of <, > and & that only HTML needs.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// piece is how many bytes of a text are quoted at once.
const piece = 16 << 10

// Append puts s behind dst as a JSON string.
func Append(dst []byte, s string) []byte {
	dst = append(dst, '"')
	Pieces(s, func(quoted []byte) { dst = append(dst, quoted...) })
	return append(dst, '"')
}

// Size is how many bytes Append adds.
func Size(s string) int {
	n := 2
	Pieces(s, func(quoted []byte) { n += len(quoted) })
	return n
}

// Pieces quotes a text piece by piece, without the quotes around it, and cuts no rune.
func Pieces(s string, with func([]byte)) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for s != "" {
		cut := uncut(s, min(piece, len(s)))
		b.Reset()
		_ = enc.Encode(s[:cut]) // a string always encodes
		with(b.Bytes()[1 : b.Len()-2])
		s = s[cut:]
	}
}

// uncut moves a cut before the rune in which it lies. Behind three bytes that begin none, no rune
// goes on.
func uncut(s string, at int) int {
	for back := range min(utf8.UTFMax, at) {
		if at == len(s) || utf8.RuneStart(s[at-back]) {
			return at - back
		}
	}
	return at
}
