package laxjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string in any quotes that models use. The matching quote must close it; the
// content is not changed.
func (r *reader) quoted() (string, bool) {
	open, size := utf8.DecodeRuneInString(r.text[min(r.at, len(r.text)):])
	shut := open
	switch open {
	case '"':
	case '\'':
		r.did.Add(stepSingle)
	case '“':
		shut = '”'
		r.did.Add(stepSmart)
	case '‘':
		shut = '’'
		r.did.Add(stepSmart)
	default:
		return "", false
	}
	r.at += size
	return r.content(open, shut)
}

// content reads up to the closing quote.
func (r *reader) content(open, shut rune) (string, bool) {
	var b strings.Builder
	for r.at < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		switch {
		case c == shut:
			r.at += size
			return b.String(), true
		case c == open: // “one “inside” another”: ambiguous
			return "", false
		case c == '\\':
			c, ok := r.escape(open)
			if !ok {
				return "", false
			}
			b.WriteRune(c)
			continue
		case c == '\n' || c == '\r' || c == '\t':
			r.did.Add(stepControls)
		case c < ' ':
			return "", false
		}
		b.WriteRune(c)
		r.at += size
	}
	return "", false
}

// escape reads one JSON escape, or \' within single quotes. In any other escape the backslash may
// be content, and in Python even in \/.
func (r *reader) escape(open rune) (rune, bool) {
	if r.at+1 >= len(r.text) {
		return 0, false
	}
	c := r.text[r.at+1]
	if c == 'u' {
		return r.unicode()
	}
	r.at += 2
	switch {
	case c == '\'':
		return '\'', open == '\''
	case c == '/':
		return '/', open == '"'
	}
	const written, meant = `"\bfnrt`, "\"\\\b\f\n\r\t"
	if i := strings.IndexByte(written, c); i >= 0 {
		return rune(meant[i]), true
	}
	return 0, false
}

// unicode reads \uXXXX, or a surrogate pair. It rejects a lone surrogate.
func (r *reader) unicode() (rune, bool) {
	c, ok := r.hex()
	if !ok || !utf16.IsSurrogate(c) {
		return c, ok
	}
	low, ok := r.hex()
	c = utf16.DecodeRune(c, low)
	return c, ok && c != utf8.RuneError
}

func (r *reader) hex() (rune, bool) {
	if len(r.text)-r.at < 6 || r.text[r.at:r.at+2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[r.at+2:r.at+6], 16, 16)
	r.at += 6
	return rune(n), err == nil
}
