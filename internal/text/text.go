// Package text knows how files spell text: encoding, byte order mark, line ends, and whether they
// are text at all.
//
// The one rule: nothing here rewrites a file. A decoded string can be mapped back to byte offsets
// (Format.Offset), so that an edit replaces exactly the bytes it means and no others, whatever the
// encoding and however broken.
//
// Start reading at Detect, then Format.Decode and Format.Encode in encoding.go. sniff.go names
// binary files, lines.go reads ranges of lines from files of any size.
//
// Known limits: UTF-16 and UTF-32 are recognised by their byte order mark only. Other single-byte
// encodings than Latin-1 and Windows-1252 are taken for one of these: they are shown wrongly but
// kept exactly.
package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encoding names how characters become bytes.
type Encoding string

// The encodings that are read and written.
const (
	UTF8        Encoding = "utf-8"
	UTF16LE     Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
	UTF32LE     Encoding = "utf-32le"
	UTF32BE     Encoding = "utf-32be"
	Latin1      Encoding = "latin-1"
	Windows1252 Encoding = "windows-1252"
)

// EOL names a file's line ends.
type EOL string

// Line ends. None is that of a file without any.
const (
	None  EOL = ""
	LF    EOL = "lf"
	CRLF  EOL = "crlf"
	CR    EOL = "cr"
	Mixed EOL = "mixed"
)

// Format is how one file spells its text.
type Format struct {
	Encoding Encoding
	BOM      bool
	EOL      EOL
	Newline  string // the most frequent line end; "\n" when there is none
	Invalid  int    // bytes that are no UTF-8 in a file that otherwise is
}

// boms are tried in this order: the mark of UTF-16LE is the beginning of that of UTF-32LE.
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

// Detect finds out how b, a file or its beginning, spells text. Whether it is text at all is
// Sniff's question.
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

// singleByte decides what invalid UTF-8 is. Text with more well-formed multi-byte characters than
// stray bytes is broken UTF-8; showing it as Latin-1 would spoil every one of those characters.
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

// cutInside reports that the only trouble is a character cut off at the end, as in the beginning of
// a larger file.
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

// String is the format in words for people and models: "utf-8" and "\n" line ends go without
// saying.
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

// WithNewlines gives s with all its line ends written as newline.
func WithNewlines(s, newline string) string {
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if newline == "\n" || newline == "" {
		return s
	}
	return strings.ReplaceAll(s, "\n", newline)
}
