package text

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPartsMakeTheLine goes through lines of all kinds in parts of all sizes, as a reader does who
// follows each part's end.
func TestPartsMakeTheLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var lines []string
		for range 1 + rng.IntN(4) {
			line := ""
			for range rng.IntN(60) {
				line += []string{"a", "é", "日", "🙂", " "}[rng.IntN(5)]
			}
			lines = append(lines, line)
		}
		end := []string{"\n", "\r\n"}[rng.IntN(2)]
		file := strings.Join(lines, end) + end
		for i, line := range lines {
			got, column := "", int64(1)
			for column <= int64(len(line)) {
				p, err := ReadPart(t.Context(), strings.NewReader(file), i+1, column, 4+rng.IntN(20), nil)
				if err != nil || p.Line != int64(len(line)) || p.From != column || !utf8.ValidString(p.Text) || p.Text == "" {
					t.Fatalf("%q line %d column %d: %+v, %v", file, i+1, column, p, err)
				}
				got += p.Text
				column += int64(len(p.Text))
			}
			if got != line {
				t.Fatalf("%q, want %q", got, line)
			}
		}
	}
}

func TestPartsThatAreNotThere(t *testing.T) {
	file := strings.NewReader("abc\n\nxy")
	for _, c := range []struct {
		line   int
		column int64
		length int64
		past   bool
		text   string
	}{{1, 4, 3, true, ""}, {1, 3, 3, false, "c"}, {2, 1, 0, false, ""}, {3, 2, 2, false, "y"}, {4, 1, -1, true, ""}} {
		p, err := ReadPart(t.Context(), file, c.line, c.column, 10, nil)
		if errors.Is(err, ErrPastEnd) != c.past || p.Line != c.length || p.Text != c.text {
			t.Errorf("line %d column %d: %+v, %v", c.line, c.column, p, err)
		}
	}
	if p, err := ReadPart(t.Context(), strings.NewReader("a🙂b"), 1, 3, 10, nil); err != nil || p.Text != "b" || p.From != 6 {
		t.Errorf("inside a character: %+v, %v", p, err)
	}
}
