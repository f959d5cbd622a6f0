package acp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/files/diff"
)

// TestHunksAreTheTextsTheyCameFrom: the text before, with each old text exchanged for its new one
// at the line that is told, is the text after, for random texts with and without a last line feed.
func TestHunksAreTheTextsTheyCameFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(lines int) string {
		var out []string
		for range rng.IntN(lines) {
			out = append(out, []string{"a", "b", "c", "-x", "+y", "@@ z", `\ w`, " "}[rng.IntN(8)])
		}
		text := strings.Join(out, "\n")
		if rng.IntN(3) > 0 && text != "" {
			text += "\n"
		}
		return text
	}
	for n := range 3000 {
		before := random(30)
		after := random(30)
		if n%2 == 0 { // a change here and there
			lines := strings.SplitAfter(before, "\n")
			for range 3 {
				at := rng.IntN(len(lines))
				lines[at] = "new" + fmt.Sprint(n) + "\n"
			}
			after = strings.Join(lines, "")
		}
		out, lines := hunks("f", unified(before, after))
		if before == after {
			continue
		}
		rest, got := before, ""
		for i, c := range out {
			old := ""
			if c.Diff.OldText != nil {
				old = *c.Diff.OldText
			}
			for strings.Count(got, "\n") < lines[i]-1 && rest != "" {
				line, more, _ := strings.Cut(rest, "\n")
				got, rest = got+line+"\n", more
			}
			if !strings.HasPrefix(rest, old) {
				t.Fatalf("%d: %q does not begin with %q\n%s", n, rest, old, unified(before, after))
			}
			got, rest = got+c.Diff.NewText, rest[len(old):]
		}
		if got+rest != after {
			t.Fatalf("%d: %q became %q, want %q\n%s", n, before, got+rest, after, unified(before, after))
		}
	}
}

func unified(before, after string) string {
	return diff.Unified(diff.Side{Name: "f", Text: before}, diff.Side{Name: "f", Text: after}).Text
}
