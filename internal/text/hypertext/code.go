package hypertext

import (
	"strconv"
	"strings"

	"adze/internal/text/highlight"
)

// maxHighlight is how many bytes of code are highlighted; longer code stays plain.
const maxHighlight = 256 << 10

// code writes a block of code of an answer.
func (w *writer) code(lang highlight.Language, name, text string) {
	w.WriteString(`<div class="code">`)
	if w.Page {
		w.WriteString(`<div class="codehead"><span>`)
		w.plain(name)
		w.WriteString(`</span><button type="button" class="copy" data-act="copy-code">Copy</button></div>`)
	}
	w.open("pre", "")
	w.WriteString("<code>")
	w.tokens(lang, text)
	w.WriteString("</code></pre></div>\n")
}

// tokens writes code in its colours.
func (w *writer) tokens(lang highlight.Language, text string) {
	if len(text) > maxHighlight {
		lang = highlight.Language{}
	}
	for _, t := range lang.Tokens(text) {
		w.token(t.Kind, t.Text)
	}
}

func (w *writer) token(kind highlight.Kind, text string) {
	class := tokenClass(kind)
	if class == "" {
		w.plain(text)
		return
	}
	w.WriteString(`<span class="` + class + `">`)
	w.plain(text)
	w.WriteString("</span>")
}

func tokenClass(k highlight.Kind) string {
	switch k {
	case highlight.Keyword:
		return "k"
	case highlight.String:
		return "s"
	case highlight.Comment:
		return "c"
	case highlight.Number:
		return "n"
	case highlight.Function:
		return "f"
	case highlight.Type:
		return "t"
	case highlight.Property:
		return "p"
	case highlight.Heading:
		return "h"
	case highlight.Added:
		return "add"
	case highlight.Removed:
		return "del"
	case highlight.Hunk:
		return "at"
	}
	return ""
}

// lineTokens are the tokens of code, line by line.
func lineTokens(lang highlight.Language, text string) [][]highlight.Token {
	if len(text) > maxHighlight {
		lang = highlight.Language{}
	}
	lines := make([][]highlight.Token, 1, strings.Count(text, "\n")+1)
	for _, t := range lang.Tokens(text) {
		for rest := t.Text; ; {
			part, after, more := strings.Cut(rest, "\n")
			if part != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], highlight.Token{Kind: t.Kind, Text: part})
			}
			if !more {
				break
			}
			lines, rest = append(lines, nil), after
		}
	}
	return lines
}

// numbered writes code with the numbers of its lines.
func (w *writer) numbered(path, text string, first int) {
	w.WriteString(`<div class="code">`)
	w.open("pre", ` class="lines"`)
	lines := lineTokens(highlight.ForFile(path), strings.TrimSuffix(text, "\n"))
	w.folded(len(lines), func(from, to int) {
		for i := from; i < to; i++ {
			w.WriteString(`<span class="l" data-n="` + strconv.Itoa(first+i) + `">`)
			for _, t := range lines[i] {
				w.token(t.Kind, t.Text)
			}
			w.WriteString("\n</span>")
		}
	})
	w.WriteString("</pre></div>\n")
}
