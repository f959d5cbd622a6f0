package draw

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"adze/internal/safeterm"
	"adze/tool"
)

func plain(rows []Row) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, ansi.Strip(r.String()))
	}
	return strings.Join(lines, "\n")
}

// pieces are what random texts are made of: all that has a width of its own.
func pieces() []string {
	return []string{"word", " ", "  ", "-", "a", "longer-word", "\t", "日本", "é", "e\u0301", "👩‍💻", "🇩🇪", "`x`", "**b**", "_i_", "#", "> ",
		"- ", "```", "\n", "\n\n", "12. ", "----", "العربية", "क्षि"}
}

func random(rnd *rand.Rand, n int) string {
	all := pieces()
	var b strings.Builder
	for range rnd.IntN(n) {
		b.WriteString(all[rnd.IntN(len(all))])
	}
	return b.String()
}

func checkRows(t *testing.T, rows []Row, w int) {
	t.Helper()
	for _, r := range rows {
		if got := ansi.StringWidth(r.String()); got != r.Width() {
			t.Fatalf("row says %d, is %d wide: %q", r.Width(), got, r.String())
		}
		if r.Width() > w {
			t.Fatalf("row of %d cells for %d: %q", r.Width(), w, r.String())
		}
	}
}

func letters(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }), "")
}

// TestWrapKeepsEverything shows that wrapping loses no character but spaces and fits every width.
func TestWrapKeepsEverything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	theme := Color()
	for range 3000 {
		text := safeterm.Clean(strings.ReplaceAll(random(rnd, 40), "\n", " "))
		w := 4 + rnd.IntN(40)
		for _, hard := range []bool{false, true} {
			rows := theme.Wrap(nil, w, Margins{Hard: hard}, Span{Bold, text})
			checkRows(t, rows, w)
			if got := letters(plain(rows)); got != letters(text.String()) {
				t.Fatalf("width %d, hard %v\ntext %q\nrows %q", w, hard, text.String(), plain(rows))
			}
		}
	}
}

// TestProseIsTheSameHoweverItArrives shows that a text added in pieces is drawn as the whole text is.
func TestProseIsTheSameHoweverItArrives(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	theme := Color()
	for range 2000 {
		text := random(rnd, 60)
		w := 10 + rnd.IntN(50)
		var grown, whole Prose
		for rest := text; rest != ""; {
			n := 1 + rnd.IntN(min(len(rest), 9))
			grown.Add(rest[:n])
			checkRows(t, grown.Rows(theme, w), w)
			rest = rest[n:]
		}
		grown.End()
		whole.Add(text)
		whole.End()
		if a, b := fmt.Sprint(grown.Rows(theme, w)), fmt.Sprint(whole.Rows(theme, w)); a != b {
			t.Fatalf("width %d, text %q\ngrown %s\nwhole %s", w, text, a, b)
		}
	}
}

// TestLongParagraph shows that an endless line is wrapped as a finished one.
func TestLongParagraph(t *testing.T) {
	text := strings.Repeat("some words of an answer that has no end ", 500)
	var grown, whole Prose
	for i := 0; i < len(text); i += 10 {
		grown.Add(text[i : i+10])
		grown.Rows(Bare(), 77)
	}
	whole.Add(text + "\n")
	if a, b := plain(grown.Rows(Bare(), 77)), plain(whole.Rows(Bare(), 77)); strings.TrimSpace(a) != strings.TrimSpace(b) {
		t.Errorf("a line that grew is wrapped differently")
	}
}

func TestInline(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain", "0:plain"},
		{"a **b** c", "0:a |2:b|0: c"},
		{"`a*b*`", "9:a*b*"},
		{"``a`b``", "9:a`b"},
		{"*i* and _j_", "3:i|0: and |3:j"},
		{"2 * 3 * 4", "0:2 * 3 * 4"},
		{"snake_case_name", "0:snake_case_name"},
		{"x**2 + y**2", "0:x**2 + y**2"},
		{"**open", "0:**open"},
		{`\*no\*`, `0:\*no\*`},
		{"***", "0:***"},
		{"", "0:"},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range inline(safeterm.Clean(tt.in)) {
			got = append(got, fmt.Sprintf("%d:%s", s.Style, s.Text))
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, strings.Join(got, "|"), tt.want)
		}
	}
}

// TestBlocksFitAndAreClean draws every kind of block from hostile text.
func TestBlocksFitAndAreClean(t *testing.T) {
	evil := "a\x1b[31mb\u202ec\r\nd\te\x07\u200b\n" + strings.Repeat("long ", 50) + "\n日本語\n@@ -1 +1 @@\n+x\n-y\n"
	theme := Color()
	for _, kind := range []tool.BlockKind{tool.TextBlock, tool.CodeBlock, tool.DiffBlock, tool.ListBlock, tool.ChecklistBlock, tool.OutputBlock, "new"} {
		for _, show := range []Show{{}, {Rows: 2}, {Whole: true, Titles: true}} {
			b := tool.Block{Kind: kind, Title: evil, Path: evil, Text: evil, Line: 9, Items: []tool.Item{{Text: evil, Note: evil, State: "pending"}}}
			for _, w := range []int{8, 20, 80} {
				rows := theme.Block(nil, b, w, show)
				checkRows(t, rows, w)
				text := plain(rows)
				if clean := safeterm.Clean(text).String(); clean != text {
					t.Errorf("%s %+v: not clean: %q", kind, show, text)
				}
			}
		}
	}
}

// FuzzProse looks for texts that break the layout.
func FuzzProse(f *testing.F) {
	f.Add("# a\n- b `c` **d**\n```go\nx\n```\n> q\n1. z\n---\n", 20)
	f.Fuzz(func(t *testing.T, text string, w int) {
		w = 4 + (w&0xff)%100
		var p Prose
		p.Add(text)
		p.End()
		checkRows(t, p.Rows(Color(), w), w)
	})
}
