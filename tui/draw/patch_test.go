package draw

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"adze/tool"
)

// TestAWindowOnADiffIsAPartOfIt: whatever stands in the diff, the rows that are drawn alone are
// those that stand there when all are drawn, as many as were measured, and none is wider than the
// screen.
func TestAWindowOnADiffIsAPartOfIt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	marks := []string{" ", "-", "+", "@@ -1 +1 @@", "@@ -9999999 +1 @@", "\\", ""}
	for range 300 {
		var b strings.Builder
		b.WriteString("@@ -1,9 +1,9 @@\n")
		for range rnd.IntN(20) {
			text := random(rnd, 30)
			if rnd.IntN(2) == 0 {
				text = strings.Repeat("x\ty ", rnd.IntN(60))
			}
			b.WriteString(marks[rnd.IntN(len(marks))] + text + "\n")
		}
		w := 60 + rnd.IntN(100)
		p := Color().Patch(tool.Block{Text: b.String()}, w, rnd.IntN(2) == 0)
		all := p.Append(nil, 0, p.Len())
		if len(all) != p.Len() {
			t.Fatalf("%d rows were measured and %d drawn of\n%q", p.Len(), len(all), b.String())
		}
		checkRows(t, all, w)
		from := rnd.IntN(len(all))
		to := from + rnd.IntN(len(all)-from+1)
		if got := p.Append(nil, from, to); !slices.Equal(got, all[from:to]) {
			t.Fatalf("rows %d to %d are others when they are drawn alone", from, to)
		}
	}
}

func TestASplitDiffCutsNothing(t *testing.T) {
	long := strings.Repeat("word ", 30) + "the end"
	p := Bare().Patch(tool.Block{Text: "@@ -1 +1 @@\n-" + long + "\n+short\n"}, 80, true)
	text := strings.Join(strings.Fields(strings.ReplaceAll(plain(p.Append(nil, 0, p.Len())), "│", "")), " ")
	if !strings.Contains(text, "the end") {
		t.Errorf("the end of a long line is not drawn: %s", text)
	}
}

// BenchmarkHugeDiff lays out a diff of 50,000 lines and draws one screen of it.
func BenchmarkHugeDiff(b *testing.B) {
	var text strings.Builder
	text.WriteString("@@ -1,25000 +1,25000 @@\n")
	for i := range 25_000 {
		fmt.Fprintf(&text, "-\told line %d of a file that is long\n+\tnew line %d of a file that is long\n", i, i)
	}
	block := tool.Block{Text: text.String()}
	for _, split := range []bool{false, true} {
		b.Run(fmt.Sprintf("split=%v", split), func(b *testing.B) {
			for b.Loop() {
				p := Color().Patch(block, 160, split)
				p.Append(nil, p.Len()/2, p.Len()/2+50)
			}
		})
	}
}
