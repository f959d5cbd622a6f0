package proc

import (
	"bytes"
	"unicode/utf8"
)

// Text is the kept part of a stream. Head and Tail are whole lines unless a single line is too
// long; bytes are as written, not necessarily UTF-8.
type Text struct {
	Head         string
	Tail         string // empty if nothing was omitted
	Bytes        int64  // in the whole stream
	Lines        int64  // in the whole stream, with an unfinished last line
	OmittedBytes int64  // between Head and Tail
	OmittedLines int64  // newlines between Head and Tail
}

// newText joins head and tail if nothing is missing between them, else cuts both at line ends.
func newText(head, tail []byte, size, newlines int64, open bool) Text {
	t := Text{Bytes: size, Lines: newlines}
	if open {
		t.Lines++
	}
	if size == int64(len(head)+len(tail)) {
		t.Head = string(head) + string(tail)
		return t
	}
	return t.cut(toLine(head), fromLine(tail), newlines)
}

func (t Text) cut(head, tail []byte, newlines int64) Text {
	t.Head, t.Tail = string(head), string(tail)
	t.OmittedBytes = t.Bytes - int64(len(head)+len(tail))
	t.OmittedLines = newlines - int64(bytes.Count(head, []byte{'\n'})+bytes.Count(tail, []byte{'\n'}))
	return t
}

// toLine cuts p after its last newline or, if a line is longer than half of p, after a rune.
func toLine(p []byte) []byte {
	if i := bytes.LastIndexByte(p, '\n'); i >= len(p)/2 {
		return p[:i+1]
	}
	for n := len(p); n > 0 && n > len(p)-utf8.UTFMax; n-- {
		if r, size := utf8.DecodeLastRune(p[:n]); r != utf8.RuneError || size > 1 {
			return p[:n]
		}
	}
	return p
}

// fromLine cuts p before the first line that starts in it or, if a line is longer than half of p,
// before a rune.
func fromLine(p []byte) []byte {
	if i := bytes.IndexByte(p, '\n'); i >= 0 && i < len(p)/2 {
		return p[i+1:]
	}
	for n := 0; n < len(p) && n < utf8.UTFMax; n++ {
		if utf8.RuneStart(p[n]) {
			return p[n:]
		}
	}
	return p
}
