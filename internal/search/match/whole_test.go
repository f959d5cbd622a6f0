package match

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMatchesNearALiteral compares a search across lines that looks at the lines of a literal alone with one that looks at all.
func TestMatchesNearALiteral(t *testing.T) {
	m := maker{Rand: rand.New(rand.NewPCG(5, 5))}
	tried := 0
	for range 1_000 {
		m.ascii = m.IntN(2) == 0
		q := Query{Multiline: true, IgnoreCase: m.IntN(4) == 0,
			Pattern: m.pick("", "^", `\b`, "(a|b)?", m.pattern(1)) + m.pick("foo", "ab", "k", "(foo|bar)", "(foo)+", "a.b") + m.pick(`\n`, `\s+`, `\s*\n`, "(?s:.{0,9}?)", `[^a]`, "$\n^") + m.pattern(1)}
		near, err := Compile(q)
		if err != nil || near.need == nil || !near.need.near {
			continue
		}
		tried++
		far, err := Compile(q)
		if err != nil {
			t.Fatal(err)
		}
		far.need.near = false
		for range 4 {
			text, c := m.text()+m.text(), Config{Before: m.IntN(2), After: m.IntN(2)}
			got, err := NewScanner(near, c).Run(context.Background(), strings.NewReader(text), 50)
			if err != nil {
				t.Fatal(err)
			}
			want, err := NewScanner(far, c).Run(context.Background(), strings.NewReader(text), 50)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Line{})); diff != "" {
				t.Fatalf("%+v on %q (-all +near):\n%s", q, text, diff)
			}
		}
	}
	if tried < 150 {
		t.Errorf("only %d patterns", tried)
	}
}

// TestManyAlternatives looks for more literals than a window has bits.
func TestManyAlternatives(t *testing.T) {
	var words, lines []string
	for a := range 5 {
		for b := range 6 {
			word := strings.Repeat(string(rune('a'+a)), 1+b%3) + string(rune('p'+b))
			words, lines = append(words, word), append(lines, "x"+word+"y", "x"+word[:len(word)-1]+"y")
		}
	}
	text := strings.Join(lines, "\n")
	for _, n := range []int{8, 9, 17, 30} {
		q := Query{Pattern: strings.Join(words[:n], "|")}
		m, err := Compile(q)
		if err != nil || m.need == nil || len(m.need.needles) < n/3 && m.need.window == nil {
			t.Fatalf("%d: %+v, %v", n, m, err)
		}
		agree(t, q, Config{}, text, 40)
		q.IgnoreCase = true
		agree(t, q, Config{}, strings.ToUpper(text), 40)
	}
}
