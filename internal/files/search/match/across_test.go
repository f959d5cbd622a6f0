package match

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/testkit/effort"
)

// TestMatchesAcrossLinesAgreeWithRegexp compares a search across lines by the automaton and by
// literals with one by regexp.
func TestMatchesAcrossLinesAgreeWithRegexp(t *testing.T) {
	m := maker{Rand: rand.New(rand.NewPCG(5, 5))}
	near, also := 0, 0
	for range rounds(3_000) {
		m.ascii = m.IntN(2) == 0
		q := Query{Multiline: true, IgnoreCase: m.IntN(4) == 0, Word: m.IntN(4) == 0,
			Pattern: m.pick("", "^", `\b`, "(a|b)?", "\n", `\nK`, "$\n", "$", m.pattern(1)) + m.pick("foo", "ab", "k", "(foo|bar)", "(foo)+", "a.b", "foo", "(foo\n|ab)+") +
				m.pick(`\n`, `\s+`, `\s*\n`, "(?s:.{0,9}?)", `[^a]`, "$\n^", "$", "\n^", `(a|b\n)*`) + m.pick("", m.pattern(1+m.IntN(2)))}
		fast, err := Compile(q)
		if err != nil || !fast.multiline {
			continue
		}
		if fast.need != nil {
			near++
		}
		if fast.also != nil {
			also++
		}
		for range 4 {
			acrossAgrees(t, fast, m.text()+m.text(), Config{Before: m.IntN(2), After: m.IntN(2)})
		}
	}
	if near < rounds(500) || also < rounds(100) {
		t.Errorf("only %d patterns with a literal on the first line, %d on another", near, also)
	}
}

// acrossAgrees searches one text by all means and by regexp alone.
func acrossAgrees(t *testing.T, fast *Matcher, text string, c Config) {
	t.Helper()
	plain := *fast
	plain.need, plain.also, plain.large = nil, nil, make(chan []byte, 1)
	plain.large <- nil
	plain.plain = false
	slow := NewScanner(&plain, c)
	slow.lines = nil
	got, err := NewScanner(fast, c).Run(context.Background(), strings.NewReader(text), 50)
	if err != nil {
		t.Fatal(err)
	}
	want, err := slow.Run(context.Background(), strings.NewReader(text), 50)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Line{})); diff != "" {
		t.Fatalf("%s on %q (-regexp +automaton):\n%s", fast.re, text, diff)
	}
}

// A literal of which only a part is looked for may begin on the line before that part.
func TestALiteralWithALineBreakAndSpellings(t *testing.T) {
	for pattern, want := range map[string]int{`a\nskfoobar`: 1, `\nkfoo`: 1, `x\n+kfoo`: 0} {
		m, err := Compile(Query{Pattern: pattern, IgnoreCase: true, Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		found, err := NewScanner(m, Config{}).Run(context.Background(), strings.NewReader("a\n\u212afoo\na\nSKFoobar\n"), 5)
		if err != nil || found.Count != want {
			t.Errorf("%s: %d, want %d (%v)", pattern, found.Count, want, err)
		}
	}
}

// A quotation may go on to the end of a pattern.
func TestAnOpenQuotation(t *testing.T) {
	for _, multiline := range []bool{false, true} {
		for _, word := range []bool{false, true} {
			m, err := Compile(Query{Pattern: `x*\Q(a.b`, Word: word, Multiline: multiline})
			if err != nil {
				t.Fatal(err)
			}
			if from, to, ok := m.Span([]byte("a.b x(a.b")); !ok || from != 4 || to != 9 {
				t.Errorf("%v %v: %d, %d", multiline, word, from, to)
			}
		}
	}
}

// TestAnAutomatonWithTooManyStates gives up in the middle of a file, and regexp goes on from there.
func TestAnAutomatonWithTooManyStates(t *testing.T) {
	fast, err := Compile(Query{Multiline: true, Pattern: `[ab]*a[ab]{14}\n+c`})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 40_000 {
		text.WriteByte("ab"[rng.IntN(2)])
		if i%500 == 0 {
			text.WriteString("\nc\n")
		}
	}
	s := NewScanner(fast, Config{})
	s.lines.resets = maxResets - 3
	if _, err := s.Run(context.Background(), strings.NewReader(text.String()), 50); err != nil || s.lines != nil {
		t.Errorf("%v, %v", err, s.lines)
	}
	acrossAgrees(t, fast, text.String(), Config{})
}

// FuzzAcrossLines does the same with patterns of the fuzzer's own.
func FuzzAcrossLines(f *testing.F) {
	f.Add(`a\nskfoobar`, "a\nskfoobar\nA\nSKFOO", true, false)
	f.Add(`return.*\n\}`, "return return\n}\nreturn\n\n}", false, true)
	f.Add(`(\s|^)x$`, "x \n\nöx\n\xffx", false, false)
	f.Fuzz(func(t *testing.T, pattern, text string, fold, word bool) {
		if len(pattern) > 60 || len(text) > 400 {
			return
		}
		m, err := Compile(Query{Pattern: pattern, IgnoreCase: fold, Word: word, Multiline: true})
		if err == nil && m.multiline {
			acrossAgrees(t, m, text, Config{Before: len(text) % 2, After: len(pattern) % 2})
		}
	})
}

// rounds is how often a random test goes round.
func rounds(usual int) int { return effort.Rounds(usual/10, usual, usual) }
