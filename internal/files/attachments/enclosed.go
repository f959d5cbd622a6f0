// Package attachments is what a client sends along with a prompt: pictures, documents, and texts
// that go with the words.
//
// The one rule: what a file is, its bytes say, not who sends it. Start reading at File.
//
// Known limits: no sound and no video; a text must be UTF-8.
package attachments

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"adze/tool"
)

// File is a picture or a PDF; if false, it is something else.
func File(name string, raw []byte) (tool.Attachment, bool) {
	kind := http.DetectContentType(raw)
	if !strings.HasPrefix(kind, "image/") && kind != "application/pdf" {
		return tool.Attachment{}, false
	}
	return tool.Attachment{Name: name, MediaType: kind, Data: raw}, true
}

// Text reports bytes that can stand among words.
func Text(raw []byte) bool {
	return utf8.Valid(raw) && strings.HasPrefix(http.DetectContentType(raw), "text/")
}

// Fenced is a text under its title, in a fence that is longer than any in it.
func Fenced(title, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return title + ":\n" + fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

// ErrNeither is what is no picture, no PDF and no text.
var ErrNeither = errors.New("it is no picture, no PDF and no text")

// Sent is a file that came with a prompt: one of its own, or a text that goes beside the words.
func Sent(name string, raw []byte) (file []tool.Attachment, beside string, err error) {
	if a, is := File(name, raw); is {
		return []tool.Attachment{a}, "", nil
	}
	if !Text(raw) {
		return nil, "", ErrNeither
	}
	return nil, "\n\n" + Fenced(name+" (as it was sent along)", string(raw)), nil
}

// ErrElsewhere is an address that brings nothing with it.
var ErrElsewhere = errors.New("it is somewhere else")

// Data are the bytes that a data: URL holds (RFC 2397). Any other address is ErrElsewhere: nothing
// is fetched for a stranger.
func Data(address string) ([]byte, error) {
	rest, is := strings.CutPrefix(address, "data:")
	if !is {
		return nil, ErrElsewhere
	}
	head, data, is := strings.Cut(rest, ",")
	if !is {
		return nil, errors.New("the data: URL has no comma")
	}
	if !strings.HasSuffix(head, ";base64") {
		text, err := url.PathUnescape(data)
		return []byte(text), err
	}
	if raw, err := base64.StdEncoding.DecodeString(data); err == nil {
		return raw, nil
	}
	return base64.RawStdEncoding.DecodeString(data) // some leave out the padding
}
