package web

import (
	"context"
	"errors"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of testdata/html")

// TestPages renders testdata/html/*.txtar: page.html at https://docs.example/guide/page.html, in
// each format that the file has a part for. The comment's line "selector: ..." is the selector.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/html/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runPage(t, file) })
	}
}

func runPage(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var selector string
	if _, after, ok := strings.Cut(string(archive.Comment), "selector: "); ok {
		selector = strings.SplitN(after, "\n", 2)[0]
	}
	var source string
	for i, part := range archive.Files {
		format, wanted := strings.CutPrefix(part.Name, "want.")
		if !wanted {
			source = string(part.Data)
			continue
		}
		page, fault := rendered(t.Context(), source, Request{Format: Format(format), Selector: selector})
		if fault != nil {
			page.Text = fault.Code + ": " + fault.Message + "\n"
		}
		if *update {
			archive.Files[i].Data = []byte(page.Text)
		} else if diff := cmp.Diff(string(part.Data), page.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func rendered(ctx context.Context, source string, r Request) (Page, *Error) {
	u, _ := url.Parse("https://docs.example/guide/page.html")
	return fault(render(ctx, &resource{url: u, status: 200, contentType: "text/html; charset=utf-8", body: []byte(source)}, r))
}

// fault gives an error its type.
func fault(page Page, err error) (Page, *Error) {
	var own *Error
	errors.As(err, &own)
	return page, own
}

func TestTitle(t *testing.T) {
	for source, want := range map[string]string{
		"<title> A \n B\x1b[31m </title><h1>C</h1>":               "A B [31m",
		`<meta property="og:title" content="O"><h1>C</h1>`:        "O",
		"<h1>Only <em>this</em></h1>":                             "Only this",
		"<svg><title>icon</title></svg><p>text</p>":               "",
		"<title>" + strings.Repeat("x", 1000) + "</title><p>text": strings.Repeat("x", 300),
	} {
		page, fault := rendered(t.Context(), source, Request{Format: Text})
		if fault != nil || page.Title != want {
			t.Errorf("title of %.40q: %q, %v; want %q", source, page.Title, fault, want)
		}
	}
}

func TestPageWithoutTextSaysSo(t *testing.T) {
	page, fault := rendered(t.Context(), "<title>App</title><div id=root></div><script>render()</script>", Request{Format: Markdown})
	if fault != nil || !strings.Contains(page.Note, "JavaScript") {
		t.Errorf("note %q, %v", page.Note, fault)
	}
	page, fault = rendered(t.Context(), "<body><div id=root></div><noscript>Call 555</noscript>", Request{Format: Text})
	if fault != nil || page.Text != "Call 555\n" || page.Note != "" {
		t.Errorf("%q, note %q, %v", page.Text, page.Note, fault)
	}
}

func TestSelectors(t *testing.T) {
	source := `<body><main><p class=a>one <b class=a>two</b></p></main><p id=x class=a>three</p><p id="y">four</p>`
	for selector, want := range map[string]string{
		"p.a":            "one two\n\nthree\n",
		".a":             "one two\n\nthree\n",
		"#y":             "four\n",
		"main ~ p":       "three\n\nfour\n",
		"p:not(.a), b":   "two\n\nfour\n",
		"body > *":       "one two\n\nthree\n\nfour\n",
		"html":           "one two\n\nthree\n\nfour\n",
		"p:contains(fo)": "four\n",
	} {
		page, fault := rendered(t.Context(), source, Request{Format: Text, Selector: selector})
		if fault != nil || page.Text != want {
			t.Errorf("%s: %q, %v; want %q", selector, page.Text, fault, want)
		}
	}
	for selector, code := range map[string]string{"#nope": codeNoMatch, "p[": codeInvalid, "p:nth(": codeInvalid, "::": codeInvalid, "'": codeInvalid} {
		_, fault := rendered(t.Context(), source, Request{Format: Text, Selector: selector})
		if fault == nil || fault.Code != code {
			t.Errorf("%s: %v, want %s", selector, fault, code)
		}
	}
	_, fault := rendered(t.Context(), source, Request{Format: Text, Selector: "#nope"})
	if !strings.Contains(fault.Message, "main, #x, #y") {
		t.Errorf("no help in %q", fault.Message)
	}
}

func TestCharsets(t *testing.T) {
	u, _ := url.Parse("https://docs.example/")
	tests := []struct{ name, contentType, body, text, charset string }{
		{"header", "text/plain; charset=iso-8859-1", "caf\xe9", "café", "windows-1252"},
		{"header in capitals", "text/plain; charset=SHIFT_JIS", "\x93\xfa\x96\x7b", "日本", "shift_jis"},
		{"meta", "text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2", "Привет\n", "windows-1251"},
		{"http-equiv", "text/html", `<meta http-equiv="Content-Type" content="text/html; charset=euc-kr"><p>` + "\xc7\xd1", "한\n", "euc-kr"},
		{"header beats meta", "text/html; charset=windows-1251", "<meta charset=shift_jis><p>\xcf", "П\n", "windows-1251"},
		{"declared Latin, is UTF-8", "text/plain; charset=iso-8859-1", "café", "café", ""},
		{"declared UTF-8, is not", "text/plain; charset=utf-8", "caf\xe9", "caf\ufffd", ""},
		{"nothing declared, is not UTF-8", "text/plain", "caf\xe9", "café", "windows-1252"},
		{"meta in plain text is text", "text/plain", "<meta charset=shift_jis>\xe9", "<meta charset=shift_jis>é", "windows-1252"},
		{"unknown name", "text/plain; charset=klingon", "caf\xe9", "café", "windows-1252"},
		{"UTF-8 mark", "text/plain; charset=utf-16", "\xef\xbb\xbfcafé", "café", ""},
		{"UTF-16 mark", "text/plain", "\xff\xfeh\x00i\x00", "hi", "utf-16le"},
		{"UTF-16 big mark", "text/plain", "\xfe\xff\x00h\x00i", "hi", "utf-16be"},
		{"ISO-2022-JP", "text/plain; charset=iso-2022-jp", "\x1b$BF|\x1b(B", "日", "iso-2022-jp"},
		{"cut character", "text/plain; charset=utf-8", "caf\xc3", "caf\ufffd", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := &resource{url: u, status: 200, contentType: tt.contentType, body: []byte(tt.body)}
			page, fault := fault(render(t.Context(), res, Request{Format: Text}))
			if fault != nil || page.Text != tt.text || page.Charset != tt.charset {
				t.Errorf("%q in %q, %v; want %q in %q", page.Text, page.Charset, fault, tt.text, tt.charset)
			}
		})
	}
	res := &resource{url: u, status: 200, contentType: "text/html; charset=hz-gb-2312", body: []byte("x")}
	if _, fault := fault(render(t.Context(), res, Request{Format: Text})); fault == nil || fault.Code != codeEncoding {
		t.Errorf("hz-gb-2312: %v", fault)
	}
}

// hostilePages are small and ask for much: nodes, spans, depth, repetition.
func hostilePages() map[string]string {
	var fonts strings.Builder
	for i := range 300 {
		fonts.WriteString("<font size=" + strings.Repeat("1", i+1) + ">")
	}
	return map[string]string{
		"reopened formatting": fonts.String() + strings.Repeat("<p>x", 10_000),
		"colspan":             `<table><tr><td colspan=2000000000 rowspan=2000000000>x</table>`,
		"wide and tall table": "<table><tr>" + strings.Repeat("<td>x", 2000) + strings.Repeat("<tr><td>y", 2000) + "</table>",
		"nested quotes":       strings.Repeat("<blockquote>", 400) + strings.Repeat("x<br>", 5_000),
		"nested lists":        strings.Repeat("<ul><li>", 200) + strings.Repeat("x<br>", 5_000),
		"deep":                strings.Repeat("<div>", 100_000) + "bottom",
		"many attributes":     "<p " + strings.Repeat("a ", 100_000) + ">x",
		"stray end tags":      strings.Repeat("x</b>", 20_000),
		"unclosed comment":    "<p>x<!--" + strings.Repeat("-", 1<<20),
		"links in links":      strings.Repeat("<a href=/x>y", 5_000),
		"one long line":       "<p>" + strings.Repeat("* _ [x](y) ", 10_000),
		"unclosed code":       strings.Repeat("<code>x", 300) + "<pre>" + strings.Repeat("`", 10_000),
		"no spaces":           "<p>" + strings.Repeat("x", 2<<20),
	}
}

// Every hostile page is rendered or refused, in all formats, and never much larger than it was. How
// long it takes is for BenchmarkHostile to say; here only the bound of the size counts.
func TestHostilePagesAreBounded(t *testing.T) {
	for name, source := range hostilePages() {
		for _, format := range []Format{Markdown, Text, HTML} {
			page, fault := rendered(t.Context(), source, Request{Format: format})
			if fault != nil && fault.Code != codeLimit {
				t.Errorf("%s as %s: %v", name, format, fault)
			}
			if limit := 4*len(source) + 2*maxContent; len(page.Text) > limit {
				t.Errorf("%s as %s: %d bytes become %d", name, format, len(source), len(page.Text))
			}
		}
	}
}

func TestDeepPageKeepsItsText(t *testing.T) {
	for _, selector := range []string{"", "body"} {
		page, fault := rendered(t.Context(), strings.Repeat("<div>", 1000)+"bottom<script>x()</script>", Request{Format: Markdown, Selector: selector})
		if fault != nil || strings.TrimSpace(page.Text) != "bottom" {
			t.Errorf("%q: %q, %v", selector, page.Text, fault)
		}
	}
}

func TestLongPageIsCutAndSaysSo(t *testing.T) {
	page, fault := rendered(t.Context(), strings.Repeat("<p>some words here</p>\n", maxTags), Request{Format: Markdown})
	if fault != nil || !page.Truncated {
		t.Errorf("truncated %v, %v", page.Truncated, fault)
	}
	page, fault = rendered(t.Context(), "<p>short</p>", Request{Format: Markdown})
	if fault != nil || page.Truncated {
		t.Errorf("truncated %v, %v", page.Truncated, fault)
	}
}

func TestAbortedRenderingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, fault := rendered(ctx, strings.Repeat("<p>x</p>", 1000), Request{Format: Markdown})
	if fault == nil || fault.Code != codeAborted {
		t.Errorf("%v", fault)
	}
}
