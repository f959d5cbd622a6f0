// Package text detects how files encode text: encoding, byte order mark, line ends, and whether
// they are text.
//
// The one rule: nothing here rewrites a file. A decoded string maps back to byte offsets
// (Format.Offset), so an edit replaces exactly the intended bytes in any encoding, even with
// invalid bytes.
//
// Start reading at Detect, then Format.Decode and Format.Encode in encoding.go. sniff.go names
// binary files, lines.go reads line ranges from files of any size.
//
// Known limits: UTF-16 and UTF-32 are recognized only by their byte order mark. Single-byte
// encodings other than Latin-1 and Windows-1252 are taken for one of these: displayed wrongly but
// preserved exactly.
package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encoding is a character encoding.
type Encoding string

// The supported encodings.
const (
	UTF8        Encoding = "utf-8"
	UTF16LE     Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
	UTF32LE     Encoding = "utf-32le"
	UTF32BE     Encoding = "utf-32be"
	Latin1      Encoding = "latin-1"
	Windows1252 Encoding = "windows-1252"
)

// EOL is a line end style.
type EOL string

// Line ends. None means a file without any.
const (
	None  EOL = ""
	LF    EOL = "lf"
	CRLF  EOL = "crlf"
	CR    EOL = "cr"
	Mixed EOL = "mixed"
)

// Format describes a file's encoding and line ends.
type Format struct {
	Encoding Encoding
	BOM      bool
	EOL      EOL
	Newline  string // the most frequent line end, or "\n"
	Invalid  int    // invalid bytes in a file that is otherwise UTF-8
}

// boms are in order of matching: UTF-16LE's mark is a prefix of UTF-32LE's.
func boms() []struct {
	enc  Encoding
	mark string
} {
	return []struct {
		enc  Encoding
		mark string
	}{
		{UTF8, "\xEF\xBB\xBF"},
		{UTF32LE, "\xFF\xFE\x00\x00"},
		{UTF32BE, "\x00\x00\xFE\xFF"},
		{UTF16LE, "\xFF\xFE"},
		{UTF16BE, "\xFE\xFF"},
	}
}

// Detect determines the format of b, a file or its start, assuming that it is text; see Sniff.
func Detect(b []byte) Format {
	f := Format{Encoding: UTF8, Newline: "\n"}
	for _, m := range boms() {
		if strings.HasPrefix(string(b[:min(4, len(b))]), m.mark) {
			f.Encoding, f.BOM = m.enc, true
			break
		}
	}
	if !f.BOM && !utf8.Valid(b) {
		f.Encoding, f.Invalid = singleByte(b)
	} else if f.Encoding == UTF8 && f.BOM {
		_, f.Invalid = count8(b)
	}
	if f.unit() > 1 {
		return f.withEOL([]byte(f.Decode(b)))
	}
	return f.withEOL(b)
}

// singleByte chooses an encoding for invalid UTF-8. Text with more well-formed multi-byte
// characters than invalid bytes stays UTF-8; as Latin-1 every such character would be wrong.
func singleByte(b []byte) (Encoding, int) {
	multi, invalid := count8(b)
	if multi > invalid || cutInside(b, invalid) {
		return UTF8, invalid
	}
	for _, c := range b {
		if c >= 0x80 && c < 0xA0 {
			return Windows1252, 0
		}
	}
	return Latin1, 0
}

// cutInside reports whether the only invalid bytes are an incomplete character at the end, as in
// the start of a larger file.
func cutInside(b []byte, invalid int) bool {
	if invalid == 0 || invalid >= utf8.UTFMax {
		return false
	}
	last := b[len(b)-invalid:]
	return utf8.RuneStart(last[0]) && !utf8.FullRune(last)
}

func count8(b []byte) (multi, invalid int) {
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			invalid++
		} else {
			multi++
		}
		b = b[n:]
	}
	return multi, invalid
}

func (f Format) withEOL(b []byte) Format {
	crlf := bytes.Count(b, []byte("\r\n"))
	lf := bytes.Count(b, []byte("\n")) - crlf
	cr := bytes.Count(b, []byte("\r")) - crlf
	kinds := 0
	best := 0
	for _, k := range []struct {
		n    int
		eol  EOL
		text string
	}{{lf, LF, "\n"}, {crlf, CRLF, "\r\n"}, {cr, CR, "\r"}} {
		if k.n == 0 {
			continue
		}
		if kinds++; k.n > best {
			best, f.EOL, f.Newline = k.n, k.eol, k.text
		}
	}
	if kinds > 1 {
		f.EOL = Mixed
	}
	return f
}

// String describes the format for users and models; it omits "utf-8" and "\n" line ends.
func (f Format) String() string {
	var words []string
	if f.Encoding != UTF8 {
		words = append(words, string(f.Encoding))
	}
	if f.BOM && f.Encoding == UTF8 {
		words = append(words, "byte order mark")
	}
	if f.Invalid > 0 {
		words = append(words, fmt.Sprintf("%d bytes that are not UTF-8", f.Invalid))
	}
	switch f.EOL {
	case CRLF, CR:
		words = append(words, strings.ToUpper(string(f.EOL))+" line ends")
	case Mixed:
		words = append(words, "mixed line ends")
	}
	return strings.Join(words, ", ")
}

// WithNewlines replaces all line ends in s by newline.
func WithNewlines(s, newline string) string {
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if newline == "\n" || newline == "" {
		return s
	}
	return strings.ReplaceAll(s, "\n", newline)
}
