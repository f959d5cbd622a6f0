package match

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestGivesUpOnTooManyStates needs 2^12 states, so the automaton has to leave the pattern to
// regexp.
func TestGivesUpOnTooManyStates(t *testing.T) {
	const pattern = "a[ab]{12}c"
	m, err := Compile(Query{Pattern: pattern})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 3))
	var text strings.Builder
	want, re := 0, regexp.MustCompile(pattern)
	for range 4000 {
		line := make([]byte, 20+rng.IntN(60))
		for i := range line {
			line[i] = "aabbbabbac"[rng.IntN(10)]
		}
		text.Write(append(line, '\n'))
		if re.Match(line) {
			want++
		}
	}
	s := NewScanner(m, Config{})
	found, err := s.Run(context.Background(), strings.NewReader(text.String()), 0)
	if err != nil || found.Count != want {
		t.Errorf("%d lines match, want %d (%v)", found.Count, want, err)
	}
	if s.dfa != nil {
		t.Errorf("the automaton was started afresh %d times and is still in use", s.dfa.resets)
	}
}

// TestAutomatonDoesTheWork makes sure that the usual pattern on the usual line never reaches
// regexp.
func TestAutomatonDoesTheWork(t *testing.T) {
	for _, pattern := range []string{`^func \w+\(`, `\bfoo\b|bar$`, `(?i)[a-z]+_test`, `\w{20,}`, `^\s*$`} {
		m, err := Compile(Query{Pattern: pattern, Word: len(pattern)%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		d := newDFA(m.prog)
		for _, line := range []string{"", "func Foo(a int) {", "a foo", "x bar", "Unit_Test", strings.Repeat("w", 30), "  "} {
			matches, known := d.line([]byte(line))
			if !known || matches != m.re.MatchString(line) {
				t.Errorf("%s on %q: %v, known %v", pattern, line, matches, known)
			}
		}
		if _, known := d.line([]byte("zü 日本")); !known {
			t.Errorf("%s leaves a line beyond ASCII to regexp", pattern)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	m, _ := Compile(Query{Pattern: `[A-Z]{3,}_[A-Z]+`})
	line := []byte("\tif err := handler.ServeRequest(ctx, buffer, length); err != nil { return err }")
	b.Run("automaton", func(b *testing.B) {
		d := newDFA(m.prog)
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			d.line(line)
		}
	})
	b.Run("regexp", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			m.re.Match(line)
		}
	})
}
