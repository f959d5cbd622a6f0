package text

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Output decodes a program's output to UTF-8 and returns the other encodings found. Programs mix
// encodings: text after a byte order mark at a line start is UTF-16, and each line that is not
// UTF-8 is decoded separately, on Windows by the system's code pages. Undecodable bytes stay.
func Output(b []byte) (string, []Encoding) {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b), nil
	}
	var found []Encoding
	note := func(e Encoding) {
		if !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	var out strings.Builder
	for len(b) > 0 {
		if f, n := wideRun(b); n > 0 {
			note(f.Encoding)
			out.WriteString(f.Decode(b[:n]))
			b = b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n') + 1
		if end == 0 {
			end = len(b)
		}
		line := b[:end]
		b = b[end:]
		if utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 || strangeBytes(line) > countC1(line) {
			out.Write(line)
			continue
		}
		encoding, _ := singleByte(line)
		if encoding == UTF8 {
			out.Write(line)
			continue
		}
		decoded := decodeSingle(line)
		if page, text := codePage(line); page != "" {
			encoding, decoded = page, text
		}
		note(encoding)
		out.WriteString(decoded)
	}
	return out.String(), found
}

// countC1 counts bytes that are characters in Windows-1252 but controls in Latin-1.
func countC1(line []byte) (n int) {
	for _, c := range line {
		if c >= 0x80 && c < 0xA0 {
			n++
		}
	}
	return n
}

// wideRun returns the format and length of UTF-16 text at the start of b: text with a byte order
// mark or with a NUL in each pair of bytes. It ends before the next plain line.
func wideRun(b []byte) (Format, int) {
	f := Format{Encoding: UTF16LE}
	switch {
	case bytes.HasPrefix(b, []byte("\xFF\xFE")):
		f.BOM = true
	case bytes.HasPrefix(b, []byte("\xFE\xFF")):
		f.BOM, f.Encoding = true, UTF16BE
	case len(b) >= 4 && b[0] != 0 && b[1] == 0 && b[2] != 0 && b[3] == 0:
	case len(b) >= 4 && b[0] == 0 && b[1] != 0 && b[2] == 0 && b[3] != 0:
		f.Encoding = UTF16BE
	default:
		return f, 0
	}
	newline, at := []byte("\n\x00"), 0
	if f.Encoding == UTF16BE {
		newline = []byte("\x00\n")
	}
	texts, pairs := 0, 0
	for at+1 < len(b) {
		pair := b[at : at+2]
		low := pair[0]
		if f.Encoding == UTF16BE {
			low = pair[1]
		}
		if pairs++; (pair[0] == 0) != (pair[1] == 0) && (low >= ' ' || strings.ContainsRune("\t\n\r", rune(low))) || f.BOM && pair[0] != 0 && pair[1] != 0 {
			texts++
		}
		at += 2
		if bytes.Equal(pair, newline) && plainLine(b[at:]) {
			break
		}
	}
	if pairs < 4 || texts*10 < pairs*9 {
		return f, 0
	}
	if at == len(b)-1 {
		at = len(b) // half a character, where the output was truncated
	}
	return f, at
}

func plainLine(b []byte) bool {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		end = len(b)
	}
	return end > 0 && !slices.ContainsFunc(b[:end], func(c byte) bool { return c >= utf8.RuneSelf || c < ' ' && c != '\t' && c != '\r' && c != '\x1b' })
}
