package web

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode/utf32"
)

// decodeText turns a body into UTF-8 and names the encoding it came in, "" for UTF-8.
//
// The order is that of browsers: byte order mark, header, a declaration inside HTML, then a guess.
// One deviation: text that is valid UTF-8 is UTF-8 even where a single-byte encoding is declared,
// since wrong declarations are common and non-ASCII text in another encoding is practically never
// valid UTF-8.
func decodeText(data []byte, contentType string, k kind, truncated bool) (string, string, *Error) {
	enc, name := findEncoding(data, contentType, k, truncated)
	switch {
	case name == "replacement":
		return "", "", fail(codeEncoding, "the page declares an encoding that is not decoded because it can hide content")
	case name == "utf-8":
		data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		return strings.ToValidUTF8(string(data), "\ufffd"), "", nil
	}
	text, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", "", &Error{Code: codeEncoding, Message: "the page is not the " + name + " that it declares", Err: err}
	}
	return strings.TrimPrefix(string(text), "\ufeff"), name, nil
}

func findEncoding(data []byte, contentType string, k kind, truncated bool) (encoding.Encoding, string) {
	switch bom := byteOrderMark(data); bom {
	case "":
	case "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), bom
	case "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM), bom
	default:
		return charset.Lookup(bom)
	}
	if utf8.Valid(data[:len(data)-cutTail(data, truncated)]) && !wide(contentType) {
		return nil, "utf-8"
	}
	if k == htmlText {
		enc, name, _ := charset.DetermineEncoding(data, contentType)
		return enc, name
	}
	// A declaration inside plain text is text: only the header counts.
	if enc, name := declared(contentType); enc != nil {
		return enc, name
	}
	return charset.Lookup("windows-1252")
}

// declared is the encoding that a header names, nil if none or unknown.
func declared(contentType string) (encoding.Encoding, string) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, ""
	}
	return charset.Lookup(params["charset"])
}

// wide reports a declared encoding whose text may be valid UTF-8 by accident, because it is made of
// ASCII bytes: those with two bytes a character and those that shift by escape sequences.
func wide(contentType string) bool {
	_, name := declared(contentType)
	return strings.HasPrefix(name, "utf-16") || name == "iso-2022-jp" || name == "replacement"
}

// cutTail counts the first bytes of a character that a size limit cut at the end.
func cutTail(data []byte, truncated bool) int {
	if !truncated {
		return 0
	}
	for i := 1; i <= min(utf8.UTFMax-1, len(data)); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return i
		}
	}
	return 0
}

// byteOrderMark names the encoding that the first bytes announce.
func byteOrderMark(data []byte) string {
	for _, bom := range []struct{ mark, name string }{
		{"\xef\xbb\xbf", "utf-8"},
		{"\xff\xfe\x00\x00", "utf-32le"},
		{"\x00\x00\xfe\xff", "utf-32be"},
		{"\xff\xfe", "utf-16le"},
		{"\xfe\xff", "utf-16be"},
	} {
		if bytes.HasPrefix(data, []byte(bom.mark)) {
			return bom.name
		}
	}
	return ""
}
