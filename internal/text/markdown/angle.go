package markdown

import (
	"html"
	"strings"
)

// maxEntity bounds the length of named character references.
const maxEntity = 32

func (r *reader) entity() {
	end := strings.IndexByte(r.s[r.pos:min(r.pos+maxEntity, len(r.s))], ';')
	if end < 2 {
		r.pos++
		return
	}
	source := r.s[r.pos : r.pos+end+1]
	if text := html.UnescapeString(source); text != source {
		r.emit(len(source), Span{Text: strings.Map(flat, text)})
		return
	}
	r.pos++
}

// flat replaces a newline reference, which would break a row.
func flat(c rune) rune {
	if c == '\n' || c == '\t' {
		return ' '
	}
	return c
}

func (r *reader) angle() {
	rest := r.s[r.pos:]
	end := -1
	if !r.noTag {
		end = strings.IndexByte(rest, '>')
		r.noTag = end < 0
	}
	if end < 2 {
		if end < 0 {
			r.unsettle(r.pos)
		}
		r.pos++
		return
	}
	if inner := rest[1:end]; isAddress(inner) {
		r.emit(end+1, Span{Text: inner, Form: Link})
		return
	}
	n := tag(rest)
	switch {
	case n == 0:
		r.pos++
	case strings.EqualFold(tagName(rest[1:]), "br"):
		r.emit(n, Span{Form: Break})
		r.skipNewline()
	default:
		r.emit(n, Span{Text: strings.ReplaceAll(rest[:n], "\n", " ")})
	}
}

func (r *reader) skipNewline() {
	if r.pos < len(r.s) && r.s[r.pos] == '\n' {
		r.pos++
		r.skipSpaces()
	}
}

// isAddress reports whether s may be a link between < and >: a URL or a mail address.
func isAddress(s string) bool {
	if strings.ContainsAny(s, " <\n\t") {
		return false
	}
	if i := strings.IndexByte(s, ':'); i >= 2 && i <= 32 {
		return strings.Trim(s[:i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-") == "" && letter(s[0])
	}
	at := strings.IndexByte(s, '@')
	return at > 0 && strings.IndexByte(s[at:], '.') > 1 && !strings.ContainsAny(s, `"\/()`)
}
