package draw

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// endless are beginnings of texts and what they go on with: each is one block that never ends.
func endless() map[string][2]string {
	return map[string][2]string{
		"paragraph":      {"", "some words "},
		"lines":          {"", "a line of `code`\n"},
		"open emphasis":  {"", "a *line of\n"},
		"open code":      {"", "`a line of\n"},
		"list":           {"", "- an item\n"},
		"nested list":    {"- a\n", "  - an item\n"},
		"loose list":     {"", "1. an item\n\n   more\n"},
		"quote":          {"", "> a line\n"},
		"code":           {"```go\n", "x := f(a) // b\n"},
		"code, one line": {"```go\n", "x := f(a) // b"},
		"indented code":  {"", "    x := 1\n"},
		"table":          {"a|b\n-|-\n", "some|words\n"},
		"one row":        {"a|b\n-|-\n", "some|words "},
		"wide table":     {strings.Repeat("a|", 30) + "\n" + strings.Repeat("-|", 30) + "\n", "some|words\n"},
		"html":           {"<pre>\n", "a line\n"},
		"heading":        {"# ", "some words "},
		"rule":           {"", "--"},
		"wide":           {"", "日本語 "},
		"one word":       {"", "wordwordword"},
		"deep":           {strings.Repeat("> ", 30), "some words\n"},
		"links":          {"", "[a](b "},
	}
}

// draws streams n deltas, 16 to a frame.
func draws(start, delta string, n int) {
	var p Prose
	theme := Color()
	p.Add(start)
	for i := range n {
		p.Add(delta)
		if i%16 == 0 {
			p.Rows(theme, 100)
		}
	}
	p.End()
	p.Rows(theme, 100)
}

// TestStreamingIsLinear shows that a block that never ends costs its length: twice as much of it
// takes about twice the memory in all.
func TestStreamingIsLinear(t *testing.T) {
	effort.Needs(t, effort.Short, "long texts")
	allocated := func(start, delta string, n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		draws(start, delta, n)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	for _, name := range slices.Sorted(maps.Keys(endless())) {
		text := endless()[name]
		half, whole := allocated(text[0], text[1], 4000), allocated(text[0], text[1], 8000)
		if whole > 2.6*half {
			t.Errorf("%s: 4,000 deltas allocate %.1f MB, 8,000 %.1f MB", name, half/1e6, whole/1e6)
		}
	}
}

// BenchmarkEndless is 20,000 deltas of one block in 1,250 frames. The bar is 0.5 s.
func BenchmarkEndless(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(endless())) {
		text := endless()[name]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				draws(text[0], text[1], 20000)
			}
		})
	}
}
