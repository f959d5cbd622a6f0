package lsp

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The encodings of columns; without a word a server counts UTF-16.
const (
	utf8Columns  = "utf-8"
	utf16Columns = "utf-16"
)

// lineStart is the offset at which a line begins, counted from 0; past the last line it is the end.
func lineStart(text string, line int) int {
	at := 0
	for ; line > 0; line-- {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	return at
}

// lineAt is a line without its end, counted from 0.
func lineAt(text string, line int) string {
	text = text[lineStart(text, line):]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return strings.TrimSuffix(text, "\r")
}

// offset is where a position lies in a text, in bytes; a column past the end of its line is the end
// of the line.
func offset(text string, p position, encoding string) int {
	at := lineStart(text, p.Line)
	line := lineAt(text, p.Line)
	if encoding == utf8Columns {
		return at + min(max(p.Character, 0), len(line))
	}
	units := 0
	for i, r := range line {
		if units >= p.Character {
			return at + i
		}
		units += utf16Units(r)
	}
	return at + len(line)
}

// column is the place of a byte offset within a line, as the server counts.
func column(line string, at int, encoding string) int {
	if encoding == utf8Columns {
		return at
	}
	units := 0
	for _, r := range line[:at] {
		units += utf16Units(r)
	}
	return units
}

// utf16Units is 1 for what is no character either, which a server has read as one.
func utf16Units(r rune) int {
	if r == utf8.RuneError {
		return 1
	}
	return max(utf16.RuneLen(r), 1)
}
