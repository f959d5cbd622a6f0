package draw

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"adze/internal/testkit/effort"
	"adze/internal/text/safeterm"
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
		"- ", "```", "\n", "\n\n", "12. ", "----", "العربية", "क्षि", "\n    ", "\n  - ", "|", "\n|-|-:|\n", "a|b", "[x](u_v)", "![", "](", ")",
		"***", "~~", "_", "*", "\\", "<b>", "<br>", "\n<div>\n", "&amp;", "https://a.b/c_d", "\n===\n", "[ ] ", "\u200d", "\r", "\n>> "}
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
		if got := ByCharacter.cells(r.String()); got != r.Width() {
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

// TestProseIsTheSameHoweverItArrives shows that a text added in pieces is drawn as the whole text
// is: short texts, and long ones that are drawn before they end.
func TestProseIsTheSameHoweverItArrives(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	short, long := 3000, 60
	if !effort.Is(effort.Short) {
		short, long = 600, 12
	}
	for range short {
		sameInPieces(t, rnd, random(rnd, 60), 9, 10+rnd.IntN(50))
	}
	for range long {
		line := strings.ReplaceAll(random(rnd, 12), "\n", " ")
		grow := []string{line, line + "\n", "- " + line + "\n", "|" + line + "|b\n", "> " + line, random(rnd, 60)}[rnd.IntN(6)]
		start := []string{"", "```go\n", "a|b\n-|-\n", "- 1\n  - "}[rnd.IntN(4)]
		sameInPieces(t, rnd, start+strings.Repeat(grow, 20000/(len(grow)+1)), 900, 10+rnd.IntN(100))
	}
}

func sameInPieces(t *testing.T, rnd *rand.Rand, text string, piece, w int) {
	t.Helper()
	theme := Color()
	var grown, whole Prose
	for rest := text; rest != ""; {
		n := 1 + rnd.IntN(min(len(rest), piece))
		grown.Add(rest[:n])
		checkRows(t, grown.Rows(theme, w), w)
		rest = rest[n:]
	}
	grown.End()
	whole.Add(text)
	whole.End()
	checkRows(t, whole.Rows(theme, w), w)
	a, b := grown.Rows(theme, w), whole.Rows(theme, w)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("width %d, row %d, text %.3000q\ngrown %s\nwhole %s", w, i, text, fmt.Sprint(a[i:min(i+3, len(a))]), fmt.Sprint(b[i:min(i+3, len(b))]))
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

// FuzzProse looks for texts that break the layout, or that are drawn in another way when they come
// in pieces.
func FuzzProse(f *testing.F) {
	f.Add("# a\n- b `c` **d**\n```go\nx\n```\n> q\n1. z\n---\n", 20)
	f.Add("a|b\n-|:-:\n1|[x](y_z)\n\n- [ ] t\n  > ~~s~~\n\n<div>\n&amp;<br>\n===\n", 33)
	f.Fuzz(func(t *testing.T, text string, w int) {
		rnd := rand.New(rand.NewPCG(uint64(len(text)), uint64(w)))
		sameInPieces(t, rnd, text, 1+len(text)/4, 4+(w&0xff)%100)
	})
}
