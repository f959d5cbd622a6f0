package draw

import (
	"fmt"
	"strings"
	"testing"

	"adze/internal/text/highlight"
	"adze/tool"
)

// marked writes spans with the roles that matter here.
func marked(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		switch {
		case s.Style&Underlined != 0:
			fmt.Fprintf(&b, "[%s]", s.Text)
		case s.Style&Strong != 0 || s.Style.role() == Keyword:
			fmt.Fprintf(&b, "*%s*", s.Text)
		default:
			b.WriteString(s.Text.String())
		}
	}
	return strings.ReplaceAll(b.String(), "][", "")
}

func TestChangedPartsOfALine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"word", "-return a - b\n+return a + b", "*return* a [-] b|*return* a [+] b"},
		{"whole word", "-x := count1(a)\n+x := counter(a)", "x := [count1](a)|x := [counter](a)"},
		{"added at the end", "-f(a)\n+f(a, b)", "f(a)|f(a[, b])"},
		{"nothing in common", "-return nil\n+x := make(chan int)", "*return* nil|x := make(*chan* int)"},
		{"different counts", "-a b c\n+a b d\n+e", "a b [c]|a b [d]|e"},
		{"pairs in order", "-a b c\n-d e f\n+a b x\n+d y f", "a b [c]|d [e] f|a b [x]|d [y] f"},
		{"accents stay whole", "-a é b c\n+a è b c", "a [é] b c|a [è] b c"},
		{"context", " if a {\n", "*if* a {"},
	}
	for _, tt := range tests {
		var got []string
		p := &Patch{theme: Bare(), lang: highlight.Named("go"), lines: readDiff(tool.Block{Text: tt.in})}
		for i := range p.lines {
			got = append(got, marked(p.spans(i)))
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, strings.Join(got, "|"), tt.want)
		}
	}
}

// TestCodeIsHighlightedByItsFile shows that the text is the same with and without a language.
func TestCodeIsHighlightedByItsFile(t *testing.T) {
	text := "package a\n\nfunc F() { // x\r\n\treturn \"b\"\x1b[31m\n}\n"
	for _, show := range []Show{{}, {Rows: 2}, {Whole: true}} {
		b := tool.Block{Kind: tool.CodeBlock, Text: text, Line: 9}
		bare := plain(Color().Block(nil, b, 40, show))
		b.Path = "a.go"
		rows := Color().Block(nil, b, 40, show)
		if got := plain(rows); got != bare {
			t.Errorf("%+v:\n%s\nwithout a language:\n%s", show, got, bare)
		}
		if !strings.Contains(rows[0].String(), Color().sgr[Keyword]+"package") {
			t.Errorf("%+v: not highlighted: %q", show, rows[0].String())
		}
	}
}
