package match

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A line that is longer than the usual buffer gives the same where it goes by as where all of it is
// held, when a literal is all of a match and lines are cut.
func TestLongLinesGoByAsTheyAreHeld(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	patterns := []Query{
		{Pattern: "needle"}, {Pattern: "needle", IgnoreCase: true}, {Pattern: "Größe"},
		{Pattern: "a.b", Literal: true}, {Pattern: "x"}, {Pattern: "needle|Größe|ReadAll"},
	}
	words := []string{"needle", "Needle", "ReadAll", "Read", "Größe", "a.b", "x", "é", "世界", "\xff", "need", "\r"}
	passed := 0
	for range rounds(3000) {
		q := patterns[random.IntN(len(patterns))]
		m, err := Compile(q)
		if err != nil {
			t.Fatal(err)
		}
		if !m.alone() {
			t.Fatalf("%+v is not alone: the test says nothing of it", q)
		}
		var text strings.Builder
		for range random.IntN(4) + 1 {
			for range random.IntN(3) {
				text.WriteString(strings.Repeat("- ", random.IntN(6000)))
				text.WriteString(words[random.IntN(len(words))])
			}
			text.WriteString("\n"[:random.IntN(2)])
		}
		c := Config{Width: 1 + random.IntN(200), Before: random.IntN(2), After: random.IntN(2), First: random.IntN(5) == 0}
		held, light := NewScanner(m, c), NewScanner(m, c)
		held.first, held.window, held.maxLine = 2048, 4096, 1<<20
		light.first, light.window, light.maxLine = 2048, 4096, 4096
		keep := random.IntN(5)
		want, err := held.Run(context.Background(), strings.NewReader(text.String()), keep)
		if err != nil {
			t.Fatal(err)
		}
		got, err := light.Run(context.Background(), strings.NewReader(text.String()), keep)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%+v with %+v, %d kept, of %d bytes (-held +going by): %v\n%s", q, c, keep, text.Len(), err, diff)
		}
		if light.m == m && want.Count > 0 && strings.Contains(text.String(), strings.Repeat("- ", 2500)) {
			passed++
		}
	}
	if passed < rounds(3000)/20 {
		t.Errorf("only %d long texts matched", passed)
	}
}

// One large buffer serves all files of a query, and is as long as the file wants it.
func TestTheLargeBufferIsMadeOnce(t *testing.T) {
	m, err := Compile(Query{Pattern: "b$"})
	if err != nil {
		t.Fatal(err)
	}
	s := NewScanner(m, Config{})
	text := sized{strings.NewReader(strings.Repeat("a", 1300<<10) + "b")}
	var before []byte
	for round := range 3 {
		text.Seek(0, 0)
		f, err := s.Run(context.Background(), text, 1)
		if err != nil || f.Count != 1 {
			t.Fatal(fmt.Sprint(f.Count), err)
		}
		large := <-m.large
		if len(large) < 1300<<10 || len(large) > 1400<<10 {
			t.Errorf("the buffer has %d bytes", len(large))
		}
		if round > 0 && &large[0] != &before[0] {
			t.Error("it was made again")
		}
		before = large
		m.large <- large
		if len(s.buf) > s.window {
			t.Errorf("%d bytes are kept by the scanner itself", len(s.buf))
		}
	}
}

type sized struct{ *strings.Reader }
