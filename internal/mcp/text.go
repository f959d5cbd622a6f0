package mcp

import (
	"strings"
	"unicode"
)

// Clean is a server's text without what a terminal or a reader would take for something else:
// control and bidirectional characters, tags that cannot be seen, and what is no text. It is cut at
// so many bytes.
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

// Line is the same on one line.
func Line(text string, most int) string {
	return strings.Join(strings.Fields(Clean(text, most)), " ")
}

// hidden tells characters that do something else than stand there.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.Is(unicode.Cf, r): // bidirectional marks, zero widths, tags
		return r != 0x200d // it joins parts of one picture
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Cs, r)
}
