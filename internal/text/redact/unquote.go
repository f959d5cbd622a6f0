package redact

import (
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote decodes a JSON string several times faster than encoding/json, with the same result:
// invalid characters become U+FFFD, and ok is false for an invalid string.
func unquote(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	out := make([]byte, 0, len(raw))
	for i := 1; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			return string(out), i == len(raw)-1
		case c < ' ':
			return "", false
		case c == '\\' && i+1 < len(raw) && meant(raw[i+1]) != 0:
			out, i = append(out, meant(raw[i+1])), i+2
		case c == '\\':
			r, size := surrogates(raw[i:])
			if size == 0 {
				return "", false
			}
			out, i = utf8.AppendRune(out, r), i+size
		case c < utf8.RuneSelf:
			end := i + 1
			for end < len(raw) && plain(raw[end]) {
				end++
			}
			out, i = append(out, raw[i:end]...), end
		default:
			r, size := utf8.DecodeRune(raw[i:])
			out, i = utf8.AppendRune(out, r), i+size
		}
	}
	return "", false
}

// plain reports whether c needs no decoding in a JSON string.
func plain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// meant returns the meaning of a letter after a backslash, or 0.
func meant(letter byte) byte {
	switch letter {
	case '"', '\\', '/':
		return letter
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return 0
}

// surrogates reads \uXXXX, or two forming one character; size is 0 if there is none.
func surrogates(raw []byte) (r rune, size int) {
	r = codeUnit(raw)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if both := utf16.DecodeRune(r, codeUnit(raw[6:])); both != utf8.RuneError {
		return both, 12
	}
	return utf8.RuneError, 6
}

// codeUnit reads \uXXXX, or returns -1.
func codeUnit(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	var unit [2]byte
	if _, err := hex.Decode(unit[:], raw[2:6]); err != nil {
		return -1
	}
	return rune(unit[0])<<8 | rune(unit[1])
}
