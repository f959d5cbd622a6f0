package match

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// mark handles a byte order mark at the start of a file. It skips UTF-8's; for UTF-16 it returns a
// reader that decodes the file from its start.
func (s *Scanner) mark(r io.Reader) io.Reader {
	head := s.buf[:s.end]
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		s.end = copy(s.buf, head[3:])
		return nil
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return nil // UTF-32: binary, since it has NUL bytes
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return nil
	}
	rest := io.MultiReader(bytes.NewReader(bytes.Clone(head[2:])), r)
	s.end, s.result.Decode = 0, "utf-16"
	return &utf16Reader{r: rest, order: order}
}

// utf16Reader converts UTF-16 to UTF-8. A lone surrogate or half a unit becomes U+FFFD.
type utf16Reader struct {
	r       io.Reader
	order   binary.ByteOrder
	decoded []byte // decoded but not yet returned
	high    rune   // pending high surrogate, or 0
	units   [4096]byte
	err     error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.decoded) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(p, u.decoded)
	u.decoded = u.decoded[n:]
	return n, nil
}

func (u *utf16Reader) fill() {
	n, err := io.ReadFull(u.r, u.units[:])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	u.err, u.decoded = err, u.decoded[:0]
	for i := 0; i+1 < n; i += 2 {
		u.unit(rune(u.order.Uint16(u.units[i:])))
	}
	if err != nil && (n%2 == 1 || u.high != 0) {
		u.decoded = utf8.AppendRune(u.decoded, utf8.RuneError)
	}
}

func (u *utf16Reader) unit(c rune) {
	high := u.high
	u.high = 0
	if high != 0 {
		if r := utf16.DecodeRune(high, c); r != utf8.RuneError {
			u.decoded = utf8.AppendRune(u.decoded, r)
			return
		}
		u.decoded = utf8.AppendRune(u.decoded, utf8.RuneError)
	}
	if c >= 0xd800 && c < 0xdc00 {
		u.high = c
		return
	}
	u.decoded = utf8.AppendRune(u.decoded, c) // AppendRune writes a lone low surrogate as U+FFFD
}
