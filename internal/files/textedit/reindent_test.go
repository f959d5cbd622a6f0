package textedit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// codeLine is a line of a program: how deep it stands, and its text.
type codeLine struct {
	depth int
	text  string
}

func randomCode(rng *rand.Rand) (lines []codeLine) {
	depth := 0
	for i := range 12 + rng.IntN(20) {
		switch rng.IntN(4) {
		case 0:
			lines = append(lines, codeLine{depth, fmt.Sprintf("if condition%d {", i)})
			depth++
			lines = append(lines, codeLine{depth, fmt.Sprintf("first%d()", i)})
		case 1:
			if depth > 0 {
				depth--
				lines = append(lines, codeLine{depth, fmt.Sprintf("} // %d", i)})
			}
		default:
			lines = append(lines, codeLine{depth, fmt.Sprintf("call%d()", i)})
		}
	}
	return lines
}

func spell(lines []codeLine, unit string, less int) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.Repeat(unit, l.depth-less) + l.text + "\n")
	}
	return b.String()
}

// change makes one of the edits that models make: another text, a line more beside one, or one
// level deeper, or a line less.
func change(rng *rand.Rand, lines []codeLine) (next []codeLine) {
	at := rng.IntN(len(lines))
	next = append(next, lines[:at]...)
	l := lines[at]
	switch rng.IntN(4) {
	case 0:
		next = append(next, codeLine{l.depth, "changed()"})
	case 1:
		next = append(next, l, codeLine{l.depth, "added()"})
		if strings.HasSuffix(l.text, "{") {
			next[len(next)-1].depth++
		}
	case 2:
		next = append(next, codeLine{l.depth, "if more {"}, codeLine{l.depth + 1, "deeper()"}, codeLine{l.depth, "}"}, l)
	}
	return append(next, lines[at+1:]...)
}

// A copy of some lines with other indentation, as models write it, edits the file as a faithful
// copy would.
func TestReindentingEqualsAFaithfulCopy(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	styles := []struct{ file, model string }{{"\t", "    "}, {"\t", "  "}, {"    ", "\t"}, {"  ", "    "}, {"\t", "\t"}, {"    ", "    "}}
	tried, refusals := 0, 0
	for range 6000 {
		code := randomCode(rng)
		from := rng.IntN(len(code) - 2)
		to := from + 2 + rng.IntN(min(8, len(code)-from-1))
		part := code[from:min(to, len(code))]
		shallow, deep := part[0].depth, part[0].depth
		for _, l := range part {
			shallow, deep = min(shallow, l.depth), max(deep, l.depth)
		}
		if shallow == deep {
			continue // nothing says how deep the model's levels are
		}
		style := styles[rng.IntN(len(styles))]
		less := shallow - rng.IntN(shallow+1)
		old, next := spell(part, style.model, less), part
		if next = change(rng, part); spell(next, "", 0) == spell(part, "", 0) {
			continue
		}
		file := spell(code, style.file, 0)
		want := spell(append(append(append([]codeLine{}, code[:from]...), next...), code[from+len(part):]...), style.file, 0)
		spans, err := Match(source(file), []Edit{{Old: old, New: spell(next, style.model, less)}})
		if err != nil {
			refusals++
			continue
		}
		if spans[0].Step == Exact {
			continue // it is as the model wrote it
		}
		if got := Apply(file, spans); got != want {
			t.Fatalf("file:\n%s\nold:\n%s\nnew:\n%s\ngot by %s:\n%s", file, old, spell(next, style.model, less), spans[0].Step, got)
		}
		if spans[0].Step == Indented {
			tried++
		}
	}
	if t.Logf("%d re-indented, %d refused", tried, refusals); tried < 1000 || refusals > tried/10 {
		t.Errorf("%d edits were re-indented, %d refused", tried, refusals)
	}
}
