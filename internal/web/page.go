package web

import (
	"context"
	"strings"
	"unicode/utf8"
)

func render(ctx context.Context, res *resource, r Request) (Page, error) {
	page := Page{URL: res.url.String(), Status: res.status, Bytes: int64(len(res.body)), Truncated: res.truncated}
	if res.redirect != "" {
		page.Redirect = res.redirect
		return page, nil
	}
	k, media := classify(res.contentType, res.body)
	page.Type = media
	switch k {
	case picture:
		return renderPicture(page, res, r)
	case unreadable:
		if len(res.body) == 0 {
			page.Note = "The answer has no body."
			return page, nil
		}
		return Page{}, fail(codeBinary, "%s is %s, which is neither text nor a supported image (PNG, JPEG, GIF, WebP); download it with a command instead", res.url, orUnknown(media))
	}
	text, name, fault := decodeText(res.body, res.contentType, k, res.truncated)
	if fault != nil {
		return Page{}, fault
	}
	page.Charset, page.Text = name, text
	if r.Format != Raw && r.Format != HTML && r.Selector == "" {
		if broken, ok := brokenLines(text, page.Truncated); ok {
			page.Text = broken
			return page, nil
		}
	}
	if k == htmlText && r.Format != Raw {
		page.Text = strings.ReplaceAll(page.Text, "\x00", "")
		return renderHTML(ctx, page, res.url, r)
	}
	if r.Selector != "" {
		return Page{}, fail(codeInvalid, "a selector needs an HTML page, and this is %s; leave it out", media)
	}
	if strings.TrimSpace(page.Text) == "" {
		page.Note = "The page is empty."
	}
	return page, nil
}

func renderPicture(page Page, res *resource, r Request) (Page, error) {
	if res.truncated {
		return Page{}, fail(codeTooLarge, "the image is larger than %d bytes; download it with a command instead", r.MaxBytes)
	}
	if r.Selector != "" {
		return Page{}, fail(codeInvalid, "a selector needs an HTML page, and this is %s; leave it out", page.Type)
	}
	page.Image = res.body
	return page, nil
}

func orUnknown(media string) string {
	if media == "" {
		return "of unknown type"
	}
	return firstLine(media, 100)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// firstLine makes untrusted text safe inside a message: one line, bounded, no control characters.
func firstLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7F && r <= 0x9F {
			return ' '
		}
		return r
	}, clip(s, n))
	return strings.Join(strings.Fields(s), " ")
}
