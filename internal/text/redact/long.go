package redact

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Long texts are scanned in pieces: unquoting the whole would copy it three times, nearly always in
// vain.
const (
	long     = 256 << 10
	longStep = 64 << 10
)

// clean reports whether a quoted text, given without its quotes, certainly contains no secret. A
// possible start of one is checked again with the next piece.
func (m *Masker) clean(quoted []byte) bool {
	var window []byte
	from := 0 // the text before it only decides where words begin
	for len(quoted) > 0 {
		n := pieceOf(quoted)
		var ok bool
		if window, ok = unquoted(window, quoted[:n]); !ok {
			return false
		}
		quoted = quoted[n:]
		s := string(window)
		if len(m.spans(s, from)) > 0 {
			return false
		}
		_, open := scan(s, from, false)
		keep := max(from, min(open, m.beginning(s)))
		if len(s)-keep > maxHeld {
			return false
		}
		start := max(0, keep-context)
		window, from = append(window[:0], s[start:]...), keep-start
	}
	return true
}

func unquoted(dst, quoted []byte) ([]byte, bool) {
	for len(quoted) > 0 {
		plain := bytes.IndexByte(quoted, '\\')
		if plain < 0 {
			plain = len(quoted)
		}
		dst = append(dst, quoted[:plain]...)
		if quoted = quoted[plain:]; len(quoted) == 0 {
			break
		}
		n := escapeOf(quoted)
		if n == len(`\n`) && n <= len(quoted) && short(quoted[1]) != 0 {
			dst, quoted = append(dst, short(quoted[1])), quoted[n:]
			continue
		}
		var text string
		if n > len(quoted) || json.Unmarshal([]byte(`"`+string(quoted[:n])+`"`), &text) != nil {
			return dst, false
		}
		dst, quoted = append(dst, text...), quoted[n:]
	}
	return dst, true
}

// short returns the meaning of a one-letter escape, or 0.
func short(letter byte) byte {
	switch letter {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case '"', '\\', '/':
		return letter
	}
	return 0
}

// pieceOf returns the length of a first piece that splits no escape, surrogate pair or rune.
func pieceOf(quoted []byte) int {
	at := 0
	for at < len(quoted) && (at < longStep || !utf8.RuneStart(quoted[at]) && at < longStep+utf8.UTFMax) {
		if quoted[at] == '\\' {
			at += escapeOf(quoted[at:])
		} else {
			at++
		}
	}
	return min(at, len(quoted))
}

// escapeOf returns the length of an escape, or two if they may be a surrogate pair.
func escapeOf(quoted []byte) int {
	switch {
	case len(quoted) < 2 || quoted[1] != 'u':
		return len(`\n`)
	case half(quoted) && len(quoted) > len(`\ud83d`) && half(quoted[len(`\ud83d`):]):
		return len(`\ud83d\ude00`)
	}
	return len(`\ud83d`)
}

func half(quoted []byte) bool {
	return bytes.HasPrefix(quoted, []byte(`\ud`)) || bytes.HasPrefix(quoted, []byte(`\uD`))
}
