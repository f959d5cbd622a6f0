package wire

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The first of the private characters that replace surrogate halves between decoding and joining.
const firstHalf = 0x10F800

// markHalves replaces escapes of lone surrogate halves in JSON. A server that splits text in UTF-16
// sends a character in two events, and a decoder turns each half into U+FFFD.
func markHalves(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		half, next := surrogate(data[i:]), rune(0)
		if half != 0 {
			next = surrogate(data[i+6:])
		}
		switch {
		case data[i] != '\\':
			out = append(out, data[i])
			i++
		case half == 0:
			out = append(out, data[i:min(i+2, len(data))]...)
			i += 2
		case utf16.DecodeRune(half, next) != utf8.RuneError:
			out = append(out, data[i:i+12]...)
			i += 12
		default:
			out = utf8.AppendRune(out, firstHalf+half-0xD800)
			i += 6
		}
	}
	return out
}

// surrogate returns the half whose escape begins the data, or 0.
func surrogate(data []byte) rune {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0
	}
	r, err := strconv.ParseUint(string(data[2:6]), 16, 32)
	if err != nil || !utf16.IsSurrogate(rune(r)) {
		return 0
	}
	return rune(r)
}

// halves joins the halves from markHalves across pieces of a text.
type halves struct{ pending rune }

// join returns a piece with its halves joined. A first half at its end waits for the next piece.
func (h *halves) join(piece string, last bool) string {
	if h.pending == 0 && !strings.Contains(piece, "\xf4\x8f") {
		return piece
	}
	var b strings.Builder
	for _, r := range piece {
		half := r - firstHalf + 0xD800
		joined := utf16.DecodeRune(h.pending, half)
		switch {
		case h.pending != 0 && r >= firstHalf && joined != utf8.RuneError:
			b.WriteRune(joined)
			h.pending = 0
			continue
		case h.pending != 0:
			b.WriteRune(utf8.RuneError)
			h.pending = 0
		}
		switch {
		case r < firstHalf:
			b.WriteRune(r)
		case half < 0xDC00:
			h.pending = half
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	if last && h.pending != 0 {
		b.WriteRune(utf8.RuneError)
		h.pending = 0
	}
	return b.String()
}
