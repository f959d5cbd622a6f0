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

// decodeText converts a body to UTF-8 and returns its encoding, "" for UTF-8.
//
// The order is the browsers': byte order mark, header, declaration inside HTML, then a guess. One
// deviation: valid UTF-8 is taken as UTF-8 even if a single-byte encoding is declared. Wrong
// declarations are common, and non-ASCII text in another encoding is almost never valid UTF-8.
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
	// Plain text cannot declare its encoding: only the header counts.
	if enc, name := declared(contentType); enc != nil {
		return enc, name
	}
	return charset.Lookup("windows-1252")
}

// declared returns the encoding named by a header, or nil if it is absent or unknown.
func declared(contentType string) (encoding.Encoding, string) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, ""
	}
	return charset.Lookup(params["charset"])
}

// wide reports whether text in the declared encoding may be valid UTF-8 by accident because it has
// only ASCII bytes: encodings with two bytes a character or with escape sequences.
func wide(contentType string) bool {
	_, name := declared(contentType)
	return strings.HasPrefix(name, "utf-16") || name == "iso-2022-jp" || name == "replacement"
}

// cutTail returns the length of an incomplete character at the end of truncated data.
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
