package proc

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Text is the kept part of a stream. Head and Tail are whole lines unless a single line is longer than
// what is kept; bytes are as written, not necessarily UTF-8.
type Text struct {
	Head         string
	Tail         string // empty when nothing was left out
	Bytes        int64  // of the whole stream
	Lines        int64  // of the whole stream, an unfinished last line included
	OmittedBytes int64  // between Head and Tail
	OmittedLines int64  // newlines between Head and Tail
}

// newText joins head and tail when nothing is missing between them, else cuts both at line ends.
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

// Limit keeps at most head lines of the start and tail lines of the end, where that was kept. Counts stay exact.
func (t Text) Limit(head, tail int) Text {
	start, end := t.Head, t.Tail
	newlines := t.OmittedLines + int64(strings.Count(start, "\n")+strings.Count(end, "\n"))
	if end == "" {
		if strings.Count(start, "\n") <= head+tail {
			return t
		}
		if t.OmittedBytes == 0 {
			end = start
		}
	}
	start = firstLines(start, head)
	end = lastLines(end, tail)
	return t.cut([]byte(start), []byte(end), newlines)
}

func firstLines(s string, n int) string {
	at := 0
	for range n {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s
		}
		at += i + 1
	}
	return s[:at]
}

func lastLines(s string, n int) string {
	at := len(strings.TrimSuffix(s, "\n"))
	for range n {
		i := strings.LastIndexByte(s[:at], '\n')
		if i < 0 {
			return s
		}
		at = i
	}
	return s[at+1:]
}

// toLine cuts p after its last newline, or, where a line is longer than half of p, after a rune.
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

// fromLine cuts p before the first line that starts in it, or, where a line is longer than half of
// p, before a rune.
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
