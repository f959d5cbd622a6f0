package web

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzHTML: whatever a page holds, it is rendered or refused in every format, as bounded valid
// UTF-8.
func FuzzHTML(f *testing.F) {
	f.Add("<main><p>x <b>y</b><table><tr><td colspan=3>z</table><pre><code class=language-go>w</code></pre>", "")
	f.Add("<b><p></b><a href=/x>y<a href=z>q<table><b><tr><td></b>", "p, b")
	f.Add("<ul><li><ol start=9><li><blockquote><h1><a><h2>x", "li:has(a)")
	f.Fuzz(func(t *testing.T, source, selector string) {
		for _, format := range []Format{Markdown, Text, HTML} {
			page, fault := rendered(t.Context(), source, Request{Format: format, Selector: selector})
			if fault != nil {
				if fault.Message == "" || fault.Code == "" {
					t.Errorf("%s: empty fault %+v", format, fault)
				}
				continue
			}
			if !utf8.ValidString(page.Text) && utf8.ValidString(source) {
				t.Errorf("%s: invalid UTF-8", format)
			}
			if len(page.Text) > 200*len(source)+1000 {
				t.Errorf("%s: %d bytes become %d", format, len(source), len(page.Text))
			}
		}
	})
}

func BenchmarkPage(b *testing.B) {
	page := "<html><body><nav>" + strings.Repeat("<a href=/x>link</a> ", 50) + "</nav><main>" +
		strings.Repeat("<h2>Part</h2><p>Some <b>bold</b> words and <a href='/y'>a link</a> in a paragraph, as usual.</p>"+
			"<pre><code class=language-go>x := 1\n</code></pre><ul><li>one<li>two</ul>", 500) + "</main>"
	for _, format := range []Format{Markdown, Text, HTML} {
		b.Run(string(format), func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				if _, fault := rendered(b.Context(), page, Request{Format: format}); fault != nil {
					b.Fatal(fault)
				}
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, page := range hostilePages() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = rendered(b.Context(), page, Request{Format: Markdown})
			}
		})
	}
}
