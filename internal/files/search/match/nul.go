package match

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Text in which a NUL stands here and there, as in a log that was cut while it was written to, is
// searched; what has more of them, or other bytes that no text has, is binary.
const (
	nulText  = 64   // bytes of text that a NUL needs at least, so that short binary data is none
	nulEvery = 8192 // bytes of text in which a second one may stand
	nulCheck = 64 << 10

	// maxNULs is how many NUL bytes a file may have that are more than half of it. Those of holes
	// do not count.
	maxNULs = 64 << 10
	// HoleLeast is how many NULs at the end of what was read may be the beginning of a hole.
	HoleLeast = 4 << 10
)

// sparseFile is a file that may have holes.
type sparseFile interface {
	// SkipHole moves the place for reading to where data follows, or to the end, and returns how
	// far it went: 0 where no hole is.
	SkipHole() int64
}

// skipHole leaves out a hole that what was read last ends in. A hole holds no text, and reading it
// takes as long as reading data.
func (s *Scanner) skipHole(r io.Reader, block []byte) (skipped bool) {
	file, ok := r.(sparseFile)
	return ok && MayEndInHole(block) && file.SkipHole() > 0
}

// MayEndInHole reports that a block ends in at least HoleLeast NULs.
func MayEndInHole(block []byte) bool {
	return len(block) >= HoleLeast && len(bytes.TrimRight(block[len(block)-HoleLeast:], "\x00")) == 0
}

// strange decides about what was read last, which holds a NUL: true for binary data.
func (s *Scanner) strange(block []byte) bool {
	size := s.gone + s.end
	if s.nulBytes += bytes.Count(block, []byte{0}); s.nulBytes >= maxNULs && s.nulBytes > size/2 {
		return true
	}
	most := min(size/nulText, 1+size/nulEvery)
	s.text = s.text || len(bytes.TrimLeft(block, "\x00")) > 0
	if s.nuls += nulRuns(block, most-s.nuls); s.nuls > most {
		return true
	}
	return noText(block[:min(len(block), nulCheck)])
}

// nulRuns counts the places where NULs stand, however many stand there together, until there are
// more than most.
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
