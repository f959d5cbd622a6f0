package draw

import (
	"strings"

	"adze/internal/text/highlight"
	"adze/internal/text/safeterm"
)

// maxHighlight is the highlighted size limit in bytes, so that no block takes longer than a frame.
const maxHighlight = 64 << 10

// highlighted splits code into lines and spans. It sanitizes each span.
func highlighted(lang highlight.Language, code string) [][]Span {
	lines := make([][]Span, 1, strings.Count(code, "\n")+1)
	for _, tok := range lang.Tokens(code) {
		style := tokenStyle(tok.Kind)
		for rest := tok.Text; ; {
			part, after, more := strings.Cut(rest, "\n")
			if part != "" {
				last := len(lines) - 1
				lines[last] = append(lines[last], Span{style, safeterm.Clean(part)})
			}
			if !more {
				break
			}
			lines = append(lines, nil)
			rest = after
		}
	}
	return lines
}

// painted is highlighted for any code; it leaves long code plain.
func painted(lang highlight.Language, code string) [][]Span {
	if len(code) > maxHighlight {
		lang = highlight.Language{}
	}
	return highlighted(lang, code)
}

// untabbed expands tabs, line by line.
func untabbed(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = flat(line, 0)
	}
	return strings.Join(lines, "\n")
}

func tokenStyle(k highlight.Kind) Style {
	switch k {
	case highlight.Keyword:
		return Keyword
	case highlight.String:
		return String
	case highlight.Comment:
		return Comment
	case highlight.Number:
		return Number
	case highlight.Function:
		return Function
	case highlight.Type:
		return Type
	case highlight.Property:
		return Property
	case highlight.Heading:
		return Heading
	case highlight.Added:
		return Added
	case highlight.Removed:
		return Removed
	case highlight.Hunk:
		return Hunk
	}
	return Plain
}
