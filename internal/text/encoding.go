package text

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (f Format) mark() string {
	if f.BOM {
		for _, m := range boms() {
			if m.enc == f.Encoding {
				return m.mark
			}
		}
	}
	return ""
}

// unit returns the smallest number of bytes in a character.
func (f Format) unit() int {
	switch f.Encoding {
	case UTF16LE, UTF16BE:
		return 2
	case UTF32LE, UTF32BE:
		return 4
	}
	return 1
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (f Format) order() byteOrder {
	if f.Encoding == UTF16BE || f.Encoding == UTF32BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Decode returns a file's text without the byte order mark. Invalid characters become U+FFFD,
// except in UTF-8, where invalid bytes stay. An incomplete unit at the end is omitted.
func (f Format) Decode(b []byte) string {
	b = b[min(len(f.mark()), len(b)):]
	switch f.Encoding {
	case UTF8:
		return string(b)
	case Latin1, Windows1252:
		return decodeSingle(b)
	}
	var out strings.Builder
	out.Grow(len(b) / f.unit())
	for len(b) >= f.unit() {
		r, n := f.rune(b)
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// Plain decodes b for display only, in the encoding found by Detect and without its mark. All
// invalid bytes become U+FFFD, in UTF-8 too.
func Plain(b []byte) string { return strings.ToValidUTF8(Detect(b).Decode(b), "\uFFFD") }

func decodeSingle(b []byte) string {
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for _, c := range b {
		if c >= 0x80 && c < 0xA0 {
			out.WriteRune(windows1252(c))
			continue
		}
		out.WriteRune(rune(c))
	}
	return out.String()
}

// rune decodes one character in a wide encoding and returns its size in bytes.
func (f Format) rune(b []byte) (rune, int) {
	if f.unit() == 4 {
		r := rune(f.order().Uint32(b))
		if !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		return r, 4
	}
	r := rune(f.order().Uint16(b))
	if utf16.IsSurrogate(r) {
		if len(b) >= 4 {
			if pair := utf16.DecodeRune(r, rune(f.order().Uint16(b[2:]))); pair != utf8.RuneError {
				return pair, 4
			}
		}
		return utf8.RuneError, 2
	}
	return r, 2
}

// Encode returns s as bytes, without a mark. The error names the first character missing in the
// encoding.
func (f Format) Encode(s string) ([]byte, error) {
	switch f.Encoding {
	case UTF8:
		return []byte(s), nil
	case Latin1, Windows1252:
		return encodeSingle(s)
	}
	out := make([]byte, 0, len(s)*f.unit())
	for _, r := range s {
		if f.unit() == 4 {
			out = f.order().AppendUint32(out, uint32(r))
			continue
		}
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			out = f.order().AppendUint16(out, uint16(hi))
			out = f.order().AppendUint16(out, uint16(lo))
			continue
		}
		out = f.order().AppendUint16(out, uint16(r))
	}
	return out, nil
}

func encodeSingle(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		c, ok := toWindows1252(r)
		if !ok {
			return nil, &Error{Rune: r}
		}
		out = append(out, c)
	}
	return out, nil
}

// Error means that the file's encoding lacks a character.
type Error struct{ Rune rune }

// Error names the character and the next step.
func (e *Error) Error() string {
	return fmt.Sprintf("the character %q (U+%04X) does not exist in the file's encoding; use another one, or convert the file to UTF-8 first", e.Rune, e.Rune)
}

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return "encoding" }

// Offset returns the file offset after prefix, which must be a prefix of Decode's result.
func (f Format) Offset(prefix string) int64 { return int64(len(f.mark())) + f.Size(prefix) }

// Size returns the number of file bytes for a part of the decoded text.
func (f Format) Size(s string) int64 {
	switch f.Encoding {
	case UTF8:
		return int64(len(s))
	case UTF16LE, UTF16BE:
		n := utf8.RuneCountInString(s)
		for _, r := range s {
			if r > 0xFFFF {
				n++
			}
		}
		return int64(2 * n)
	}
	return int64(f.unit() * utf8.RuneCountInString(s))
}
