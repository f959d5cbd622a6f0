package match

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Text with a few NULs, such as a log that was truncated while open, is searched. A file with more
// NULs, or with other non-text bytes, is binary.
const (
	nulText  = 64   // minimum text bytes per NUL, so that short binary data does not qualify
	nulEvery = 8192 // text bytes per additional NUL
	nulCheck = 64 << 10

	// maxNULs is the number of NUL bytes, holes excluded, at which a file that is mostly NULs
	// counts as binary.
	maxNULs = 64 << 10
	// HoleLeast is how many trailing NULs may begin a hole.
	HoleLeast = 4 << 10
)

type sparseFile interface {
	// SkipHole moves the read position to the next data or the end, and returns the distance, 0 if
	// there is no hole.
	SkipHole() int64
}

// skipHole skips a hole that the last block ends in. Reading it would take as long as reading data.
func (s *Scanner) skipHole(r io.Reader, block []byte) (skipped bool) {
	file, ok := r.(sparseFile)
	return ok && MayEndInHole(block) && file.SkipHole() > 0
}

// MayEndInHole reports whether a block ends in at least HoleLeast NULs.
func MayEndInHole(block []byte) bool {
	return len(block) >= HoleLeast && len(bytes.TrimRight(block[len(block)-HoleLeast:], "\x00")) == 0
}

// strange reports whether the last block, which contains a NUL, makes the file binary.
func (s *Scanner) strange(block []byte) bool {
	size := s.discarded + s.end
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

// nulRuns counts NUL runs, stopping after most+1.
func nulRuns(block []byte, most int) (n int) {
	for i := bytes.IndexByte(block, 0); i >= 0 && n <= most; {
		n++
		block = bytes.TrimLeft(block[i:], "\x00")
		i = bytes.IndexByte(block, 0)
	}
	return n
}

// noText reports whether more than one byte in 200 does not occur in text.
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
