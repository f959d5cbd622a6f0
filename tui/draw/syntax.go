package draw

import (
	"strings"

	"adze/internal/text/highlight"
	"adze/internal/text/safeterm"
)

// maxHighlight is how many bytes of code are highlighted; longer code stays plain, so that one
// block never takes more than a frame.
const maxHighlight = 64 << 10

// highlighted splits code into lines of spans. The code is clean, or becomes so span by span.
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

// painted is highlighted for code that may be of no known language, or too long: then it is plain.
func painted(lang highlight.Language, code string) [][]Span {
	if len(code) > maxHighlight {
		lang = highlight.Language{}
	}
	return highlighted(lang, code)
}

// untabbed replaces tabs by spaces, line by line.
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
