package hypertext_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"adze/internal/text/hypertext"
	"adze/tool"
)

const answer = "# Title\n\nSome **bold** and `code`,\nand [a link](https://example.org/x).\n\n- one\n- two\n  - nested\n\n    with a paragraph\n- [x] done\n- [ ] to do\n\n" +
	"3. three\n4. four\n\n> quoted\n> text\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|--:|:-:|\n| 1 | 2 |\n\nThe end"

// TestOnlyTheLastSectionChanges: whatever follows a text, its sections but the last stay.
func TestOnlyTheLastSectionChanges(t *testing.T) {
	whole, _ := hypertext.Sections(answer, nil)
	if len(whole) < 6 {
		t.Fatalf("it has %d sections: %q", len(whole), whole)
	}
	var g hypertext.Growing
	for n := range answer {
		got, _ := hypertext.Sections(answer[:n], nil)
		if grown := g.Sections(answer[:n]); !slices.Equal(grown, got) {
			t.Fatalf("%q grown: %q, want %q", answer[:n], grown, got)
		}
		if last := len(got) - 1; last > 0 && !slices.Equal(got[:last], whole[:last]) {
			t.Fatalf("%q: %q", answer[:n], got)
		}
	}
}

// TestEverySectionStandsAlone: each closes what it opens.
func TestEverySectionStandsAlone(t *testing.T) {
	many := strings.Repeat("- item\n  - below\n", 100)
	for _, text := range []string{answer, many, "> - a\n>   1. b\n>\n>      c\n\nd", "```\nopen"} {
		sections, _ := hypertext.Sections(text, nil)
		for _, s := range sections {
			balanced(t, s)
		}
	}
	if sections, _ := hypertext.Sections(many, nil); len(sections) < 3 {
		t.Errorf("a long list is one section that is drawn again with each item: %d", len(sections))
	}
}

func balanced(t *testing.T, text string) {
	t.Helper()
	var open []string
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("%q leaves open: %v", text, open)
			}
			return
		case html.StartTagToken:
			name, _ := z.TagName()
			if n := string(name); n != "br" && n != "hr" && n != "img" {
				open = append(open, n)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Fatalf("%q closes %s, open are %v", text, name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func diff(path, text string) string {
	return hypertext.Block(tool.Block{Kind: tool.DiffBlock, Path: path, Text: text})
}

// TestADiffHasItsNumbers: each line has its number, removed ones as they were, others as they are.
func TestADiffHasItsNumbers(t *testing.T) {
	got := diff("a.go", "--- a/a.go\n+++ b/a.go\n@@ -7,3 +7,4 @@\n same()\n-old(1)\n+old(2)\n+more()\n end()\n")
	balanced(t, got)
	for _, want := range []string{`class="l del" data-n="8"`, `class="l add" data-n="8"`, `class="l add" data-n="9"`, `class="l same" data-n="10"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	for _, text := range []string{"-old\n+new\n", "Binary files a and b differ\n@@ -1 +1 @@\n-old\n+new\n"} {
		got := diff("x", text)
		balanced(t, got)
		for _, want := range strings.Fields(strings.NewReplacer("-", " ", "+", " ", "@@", "", "1", "").Replace(text)) {
			if !strings.Contains(got, want) {
				t.Errorf("%q hides %s: %s", text, want, got)
			}
		}
	}
	if got := hypertext.Hunks("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"); len(got) != 2 || got[1] != "@@ -9 +9 @@\n-c\n+d\n" {
		t.Errorf("hunks: %q", got)
	}
}

// TestLongOutputIsWhole: 5,000 lines are all there, and it says that others came before.
func TestLongOutputIsWhole(t *testing.T) {
	got := hypertext.Block(tool.Block{Kind: tool.OutputBlock, Text: strings.Repeat("line <b>\n", 5000), Total: 6000})
	balanced(t, got)
	if n := strings.Count(got, "line &lt;b&gt;"); n != 5000 || !strings.Contains(got, "1000 earlier lines") {
		t.Errorf("%d lines, %.200q", n, got)
	}
}

// FuzzNoMarkupOfOthers: of no text comes an element that is not ours, or an address that does not
// lead to the web.
func FuzzNoMarkupOfOthers(f *testing.F) {
	for _, s := range []string{answer, `<script>x</script>`, `[a](javascript:x)`, "```\"><img src=x>\n</code>", "<U+202E>\u202e", `![x](http://a/"onload=x)`} {
		f.Add(s)
	}
	ours := strings.Fields("div span button pre code table thead tbody tr th td p h3 h4 h5 h6 ul ol li blockquote a br hr strong em s mark details summary")
	f.Fuzz(func(t *testing.T, s string) {
		out, _ := hypertext.Prose(s, []hypertext.Mark{{Quote: s, Text: s}})
		blocks := []tool.Block{{Title: s, Kind: tool.DiffBlock, Path: s, Text: "@@ -1 +1 @@\n-" + s + "\n+" + s}, {Kind: tool.CodeBlock, Path: "a.go", Line: 1, Text: s},
			{Kind: tool.ListBlock, Items: []tool.Item{{Text: s, Note: s}}}, {Kind: tool.ChecklistBlock, Items: []tool.Item{{Text: s, State: s}}}, {Kind: tool.OutputBlock, Text: s}, {Text: s}}
		for _, block := range blocks {
			out += hypertext.Block(block)
		}
		z := html.NewTokenizer(strings.NewReader(out))
		for z.Next() != html.ErrorToken {
			tok := z.Token()
			if tok.Type != html.StartTagToken {
				continue
			}
			if !slices.Contains(ours, tok.Data) {
				t.Fatalf("%q became the element %s", s, tok.Data)
			}
			for _, a := range tok.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "http") {
					t.Fatalf("%q became %s=%q", s, a.Key, a.Val)
				}
			}
		}
	})
}
