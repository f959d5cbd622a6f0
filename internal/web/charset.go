package web

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// decodeText converts a body to UTF-8 and returns its encoding, "" for UTF-8.
//
// The order is the browsers': byte order mark, header, declaration inside HTML, then a guess. One
// deviation: valid UTF-8 is taken as UTF-8 even if a single-byte encoding is declared. Wrong
// declarations are common, and non-ASCII text in another encoding is almost never valid UTF-8.
func decodeText(data []byte, contentType string, k kind, truncated bool) (string, string, error) {
	head := data
	if k != htmlText {
		head = mark(data) // plain text cannot declare its encoding in itself
	}
	enc, name, _ := charset.DetermineEncoding(head, contentType)
	switch {
	case name == "utf-8", utf8.Valid(data[:len(data)-cutTail(data, truncated)]) && !wide(data, contentType):
		data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		return strings.ToValidUTF8(string(data), "\ufffd"), "", nil
	case name == "replacement":
		return "", "", fail(codeEncoding, "the page declares an encoding that is not decoded because it can hide content")
	}
	text, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", "", &Error{Code: codeEncoding, Message: "the page is not the " + name + " that it declares", Err: err}
	}
	return strings.TrimPrefix(string(text), "\ufeff"), name, nil
}

// mark returns the bytes that a byte order mark would have.
func mark(data []byte) []byte { return data[:min(len(data), 3)] }

// wide reports whether the declared or marked encoding has two bytes a character or escape
// sequences. Text in it may be valid UTF-8 by accident, and may have NUL bytes.
func wide(data []byte, contentType string) bool {
	_, name, _ := charset.DetermineEncoding(mark(data), contentType)
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
