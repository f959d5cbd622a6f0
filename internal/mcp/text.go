package mcp

import (
	"strings"
	"unicode"
)

// Clean returns a server's text without control and bidirectional characters, invisible tags and
// invalid UTF-8, cut at most bytes.
func Clean(text string, most int) string {
	cut := ""
	if len(text) > most {
		text, cut = text[:most], "…"
	}
	text = strings.ToValidUTF8(text, "")
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, text) + cut
}

// Line is like Clean, on one line.
func Line(text string, most int) string {
	return strings.Join(strings.Fields(Clean(text, most)), " ")
}

// hidden reports whether a character is invisible or changes its surroundings.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.Is(unicode.Cf, r): // bidirectional marks, zero widths, tags
		return r != 0x200d // it joins parts of one emoji
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Cs, r)
}
