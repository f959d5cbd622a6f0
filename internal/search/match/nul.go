package match

import (
	"bytes"
	"unicode/utf8"
)

// Text in which a NUL stands here and there, as in a log that was cut while it was written to, is searched; what has
// more of them, or other bytes that no text has, is binary.
const (
	nulText  = 64   // bytes of text that a NUL needs at least, so that short binary data is none
	nulEvery = 8192 // bytes of text in which a second one may stand
	nulCheck = 64 << 10
)

// strange decides about what was read last, which holds a NUL: true for binary data.
func (s *Scanner) strange(block []byte) bool {
	size := s.gone + s.end
	most := min(size/nulText, 1+size/nulEvery)
	if s.nuls += nulRuns(block, most-s.nuls); s.nuls > most {
		return true
	}
	return noText(block[:min(len(block), nulCheck)])
}

// nulRuns counts the places where NULs stand, however many stand there together, until there are more than most.
func nulRuns(block []byte, most int) (n int) {
	for i := bytes.IndexByte(block, 0); i >= 0 && n <= most; {
		n++
		block = bytes.TrimLeft(block[i:], "\x00")
		i = bytes.IndexByte(block, 0)
	}
	return n
}

// noText reports more than one in 200 bytes that no text holds, or no line break in many.
func noText(block []byte) bool {
	odd := 0
	for i := 0; i < len(block); {
		c := block[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != 0 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\b' && c != 0x1b || c == 0x7f {
				odd++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(block[i:])
		if r == utf8.RuneError && size == 1 && (c < 0xA0 || len(block)-i > utf8.UTFMax) {
			odd++
		}
		i += size
	}
	return odd*200 > len(block)
}
