package lsp

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encodings of columns. Servers use UTF-16 unless they name another.
const (
	utf8Columns  = "utf-8"
	utf16Columns = "utf-16"
)

// lineStart returns a line's offset, counted from 0, or the text's end.
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

// lineAt returns a line, counted from 0, without its newline.
func lineAt(text string, line int) string {
	text = text[lineStart(text, line):]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return strings.TrimSuffix(text, "\r")
}

// offset converts a position to a byte offset. A column past the line's end means its end.
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

// column converts a byte offset in a line to the server's column.
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

// utf16Units returns 1 for invalid UTF-8, which a server has read as one character.
func utf16Units(r rune) int {
	if r == utf8.RuneError {
		return 1
	}
	return max(utf16.RuneLen(r), 1)
}
