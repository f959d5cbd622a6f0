package draw

import (
	"math/rand/v2"
	"strings"
	"testing"

	"adze/tool"
)

const sample = `--- a.go
+++ a.go
@@ -1,3 +1,4 @@
 same
-gone one
-gone two
+come
 same too
@@ -98,2 +99,2 @@ func F() {
--- a list mark
+++ another
 end
\ No newline at end of file
`

func TestSplitPairsOldWithNew(t *testing.T) {
	got := plain(split(Bare(), tool.Block{Text: sample}, 60))
	want := `@@ -1,3 +1,4 @@
  1  same                    │   1  same
  2 -gone one                │   2 +come
  3 -gone two                │ ` + `
  4  same too                │   3  same too
@@ -98,2 +99,2 @@ func F() {
 98 --- a list mark          │  99 +++ another
 99  end                     │ 100  end
\ No newline at end of file`
	if got != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", got, want)
	}
	if added, removed := Count(sample); added != 2 || removed != 3 {
		t.Errorf("counted +%d -%d, want +2 -3", added, removed)
	}
}

// TestSplitFitsEveryWidth: whatever the diff and the width, no row is wider than its screen.
func TestSplitFitsEveryWidth(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	marks := []string{" ", "-", "+", "@@ -1 +1 @@", "@@ -x +99999999999999999999 @@", "\\", ""}
	for range 500 {
		var b strings.Builder
		b.WriteString("@@ -1,9 +1,9 @@\n")
		for range rnd.IntN(20) {
			b.WriteString(marks[rnd.IntN(len(marks))] + random(rnd, 10) + "\n")
		}
		w := 60 + rnd.IntN(100)
		checkRows(t, split(Color(), tool.Block{Text: b.String()}, w), w)
	}
}

// split are all rows of a diff in two columns.
func split(t *Theme, b tool.Block, w int) []Row {
	p := t.Patch(b, w, true)
	return p.Append(nil, 0, p.Len())
}
