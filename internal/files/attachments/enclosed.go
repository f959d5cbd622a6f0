// Package attachments detects files sent with a prompt: images, PDFs and texts.
//
// The one rule: the content determines the type, not the sender. Start reading at File.
//
// Known limits: no audio or video; text must be UTF-8.
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

// File returns an image or PDF as an attachment, or false for other data.
func File(name string, raw []byte) (tool.Attachment, bool) {
	kind := http.DetectContentType(raw)
	if !strings.HasPrefix(kind, "image/") && kind != "application/pdf" {
		return tool.Attachment{}, false
	}
	return tool.Attachment{Name: name, MediaType: kind, Data: raw}, true
}

// Text reports whether raw can be part of a prompt's text.
func Text(raw []byte) bool {
	return utf8.Valid(raw) && strings.HasPrefix(http.DetectContentType(raw), "text/")
}

// Fenced returns text with a title, in a fence longer than any in the text.
func Fenced(title, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return title + ":\n" + fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

// ErrNeither means that a file is neither image, PDF nor text.
var ErrNeither = errors.New("it is no picture, no PDF and no text")

// FromFile converts a file sent with a prompt to an attachment or to text for the prompt.
func FromFile(name string, raw []byte) (file []tool.Attachment, beside string, err error) {
	if a, is := File(name, raw); is {
		return []tool.Attachment{a}, "", nil
	}
	if !Text(raw) {
		return nil, "", ErrNeither
	}
	return nil, "\n\n" + Fenced(name+" (as it was sent along)", string(raw)), nil
}

// ErrElsewhere means that a URL does not contain its data.
var ErrElsewhere = errors.New("it is somewhere else")

// Data returns the bytes in a data: URL (RFC 2397). Other URLs yield ErrElsewhere: nothing is
// fetched on a sender's behalf.
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
	return base64.RawStdEncoding.DecodeString(data) // some senders omit the padding
}
