package redact

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A long text is looked through in pieces: unquoted as a whole it would be copied three times, and
// nearly always in vain.
const (
	long     = 256 << 10
	longStep = 64 << 10
)

// clean reports that a quoted text, without its quotes, certainly holds no secret. What may be the
// beginning of one is looked at again with the next piece.
func (m *Masker) clean(quoted []byte) bool {
	var window []byte
	from := 0 // what stands before it only tells where words begin
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

// unquoted appends the text of a quoted piece; if false, it is none.
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

// short is what an escape of one letter stands for; if 0, it is none.
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

// pieceOf is the length of a first piece that cuts no escape, no pair of them and no rune.
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

// escapeOf is the length of an escape, and of both where surrogates may be a pair.
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
