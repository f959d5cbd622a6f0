package web

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
)

// kind is how a body can be processed.
type kind uint8

const (
	unreadable kind = iota
	plainText
	htmlText
	picture
)

// classify uses the declared type or, without a specific one, the first bytes.
func classify(contentType string, body []byte) (kind, string) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		media = strings.ToLower(strings.TrimSpace(strings.SplitN(contentType, ";", 2)[0]))
	}
	switch media {
	case "", "application/octet-stream", "binary/octet-stream", "unknown/unknown":
		return sniff(contentType, body)
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return isPicture(media, body), media
	case "text/html", "application/xhtml+xml":
		return textual(contentType, body, htmlText), media
	}
	if isText(media) {
		return textual(contentType, body, plainText), media
	}
	return unreadable, media
}

// isText reports text types outside text/*; the suffixes are from RFC 6839.
func isText(media string) bool {
	if strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") ||
		strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(media, "application/"), "x-") {
	case "json", "ndjson", "jsonl", "json5", "xml", "xml-dtd", "javascript", "ecmascript", "typescript", "yaml", "toml",
		"sh", "shellscript", "sql", "graphql", "httpd-php", "perl", "python", "ruby", "tex", "latex", "rtf", "csv", "diff", "patch",
		"www-form-urlencoded", "mbox", "pem-file", "pgp-signature", "pgp-keys":
		return strings.HasPrefix(media, "application/")
	}
	return false
}

// isPicture accepts a declared image only if its first bytes agree.
func isPicture(media string, body []byte) kind {
	if http.DetectContentType(body) == media {
		return picture
	}
	return unreadable
}

// textual rejects binary bodies declared as text. UTF-16, which contains NUL bytes, is
// recognized by a byte order mark or the header; a few NULs in other text are tolerated.
func textual(contentType string, body []byte, k kind) kind {
	head := body[:min(len(body), 4<<10)]
	if bytes.IndexByte(head, 0) < 0 || wide(head, contentType) || fewNULs(head) {
		return k
	}
	return unreadable
}

// fewNULs reports whether at most two bytes, or one in a hundred, are NUL, with almost no other
// control characters.
func fewNULs(head []byte) bool {
	nuls, controls := 0, 0
	for _, c := range head {
		switch {
		case c == 0:
			nuls++
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b:
			controls++
		}
	}
	return nuls <= max(2, len(head)/100) && controls <= len(head)/200 && 8*nuls < len(head)
}

// sniff is for servers that declare no type.
func sniff(contentType string, body []byte) (kind, string) {
	head := body[:min(len(body), 4<<10)]
	if fewNULs(head) {
		head = bytes.ReplaceAll(head, []byte{0}, nil)
	}
	media, _, _ := mime.ParseMediaType(http.DetectContentType(head))
	switch {
	case media == "text/html":
		return textual(contentType, body, htmlText), media
	case strings.HasPrefix(media, "text/"):
		return textual(contentType, body, plainText), media
	case media == "image/png" || media == "image/jpeg" || media == "image/gif" || media == "image/webp":
		return picture, media
	}
	return unreadable, media
}
