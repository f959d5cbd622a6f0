package export

import (
	"html"
	"strings"

	"adze/internal/text/hypertext"
)

// web is HTML that grows.
type web struct{ strings.Builder }

// text writes a text between tags, or into an attribute with double quotes.
func (w *web) text(s string) {
	w.WriteString(strings.ReplaceAll(html.EscapeString(s), "\x00", "\uFFFD"))
}

// proseHTML is what a model said, as HTML.
func proseHTML(text string, r remarks) string {
	marks := make([]hypertext.Mark, len(r))
	for i, m := range r {
		marks[i] = hypertext.Mark{Quote: m.quote, Text: m.text}
	}
	out, _ := hypertext.Options{}.Prose(text, marks)
	return out
}
