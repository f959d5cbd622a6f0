package web

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Parser bounds. A tag costs a few nodes of about 150 bytes, so a tree stays below 100 MB; the
// largest real pages (one-page specifications) have about 100,000 tags.
const (
	maxHTML   = 4 << 20
	maxTags   = 200_000
	parseTime = 5 * time.Second
	readStep  = 4 << 10 // bytes read between context checks
)

var errSlow = errors.New("parsing takes too long")

// parseHTML returns a page's tree; cut is set if the end was dropped. A page nested too deeply for
// the parser becomes one element with its text.
func parseHTML(ctx context.Context, text string) (*html.Node, bool, error) {
	text, cut := bounded(payload().ReplaceAllString(text, ";base64,"))
	ctx, cancel := context.WithTimeoutCause(ctx, parseTime, errSlow)
	defer cancel()
	src := &steps{ctx: ctx, rest: shield(text)}
	root, err := html.ParseWithOptions(src, html.ParseOptionEnableScripting(false))
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return nil, cut, fail(codeLimit, "the page is built so that parsing it takes too long; use format raw or another source")
	case ctx.Err() != nil:
		return nil, cut, explain(ctx, "the page", ctx.Err())
	case err != nil:
		return flat(text), cut, nil
	}
	unshield(root)
	return root, cut, nil
}

// steps is a reader that returns small pieces and fails when the context ends. The parser itself
// cannot be stopped, and some input makes it slow (it joins text around stray tags by copying).
type steps struct {
	ctx  context.Context
	rest string
}

// Read implements io.Reader.
func (s *steps) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.rest == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), readStep)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// bounded cuts a page at the byte and tag limits.
func bounded(text string) (string, bool) {
	whole := len(text)
	text = clip(text, maxHTML)
	tags := 0
	for at := 0; ; tags++ {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return text, len(text) < whole
		}
		if tags == maxTags {
			return text[:at+i], true
		}
		at += i + 1
	}
}

const shielded = "adze-"

// shield renames formatting elements; unshield restores them after parsing. The HTML standard
// reopens unclosed ones in each later block, so a few hundred would turn each tag into hundreds of
// nodes. Unknown elements are never reopened.
func shield(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	for {
		i := strings.IndexByte(text, '<') + 1
		if i == 0 {
			b.WriteString(text)
			return b.String()
		}
		if i < len(text) && text[i] == '/' {
			i++
		}
		b.WriteString(text[:i])
		text = text[i:]
		if reopened(text) {
			b.WriteString(shielded)
		}
	}
}

// reopened reports whether a tag starts with a formatting element's name. <a> does not count: an
// open one is closed by the next, so they cannot accumulate.
func reopened(tag string) bool {
	end := strings.IndexAny(tag[:min(len(tag), len("strike")+1)], " \t\n\f\r/>")
	if end < 0 {
		return false
	}
	switch strings.ToLower(tag[:end]) {
	case "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

func unshield(root *html.Node) {
	for n := range root.Descendants() {
		switch n.Type {
		case html.ElementNode:
			if name, ok := strings.CutPrefix(n.Data, shielded); ok {
				n.Data, n.DataAtom = name, atom.Lookup([]byte(name))
			}
		case html.TextNode:
			if strings.Contains(n.Data, shielded) {
				n.Data = strings.NewReplacer("<"+shielded, "<", "</"+shielded, "</").Replace(n.Data)
			}
		}
	}
}

// payload matches inline base64 data, most bytes on some pages.
var payload = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`;base64,[A-Za-z0-9+/=]+`) })

// hiddenOrTag matches what flat drops: scripts, styles and tags.
var hiddenOrTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<script\b.*?(?:</script[^>]*>|$)|<style\b.*?(?:</style[^>]*>|$)|<[/!?a-z][^>]*>`)
})

// flat returns the text of a page that cannot be parsed, without tags, scripts and styles.
func flat(text string) *html.Node {
	root, body := element(atom.Html), element(atom.Body)
	root.AppendChild(body)
	body.AppendChild(textNode(html.UnescapeString(hiddenOrTag().ReplaceAllString(text, " "))))
	return root
}

func element(a atom.Atom) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: a.String(), DataAtom: a}
}
