package export

import (
	"strings"

	"adze/internal/text/hypertext"
	"adze/internal/text/markdown"
)

// inlineText escapes all markup.
func inlineText(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '\n':
			b.WriteByte(' ')
		case strings.ContainsRune("\\`*_[]!|~@", r):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// harmless escapes a paragraph's HTML outside code and its pictures, and drops links that do not
// lead to the web.
func harmless(text string) string {
	spans, _ := markdown.Inline(text)
	var b strings.Builder
	at := 0
	for _, s := range spans {
		end := codeEnd(text, s)
		if end < 0 || s.Offset < at {
			continue
		}
		b.WriteString(unlinked(text[at:s.Offset]) + text[s.Offset:end])
		at = end
	}
	b.WriteString(unlinked(text[at:]))
	return b.String()
}

// codeEnd returns a code span's end, or a negative number if s is none.
func codeEnd(text string, s markdown.Span) int {
	rest := text[min(s.Offset, len(text)):]
	ticks := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
	if s.Form&markdown.CodeSpan == 0 || ticks == "" {
		return -1
	}
	for at := len(ticks); at < len(rest); {
		next := strings.IndexByte(rest[at:], '`')
		if next < 0 {
			break
		}
		run := len(rest[at+next:]) - len(strings.TrimLeft(rest[at+next:], "`"))
		if run == len(ticks) {
			return s.Offset + at + next + run
		}
		at += next + run
	}
	return -1
}

func unlinked(text string) string {
	text = strings.NewReplacer("<", "&lt;", "![", `!\[`, "]:", `]\:`).Replace(text)
	var b strings.Builder
	for {
		at := strings.Index(text, "](")
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at+2:]
		if hypertext.WebAddress(text) {
			b.WriteString("](")
		} else {
			b.WriteString(`]\(`)
		}
	}
}
