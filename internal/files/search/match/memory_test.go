package match

import (
	"context"
	"strings"
	"testing"
	"unsafe"
)

// TestLinesShareMemory counts allocations for many lines of a file: pieces for their texts and one
// for the lines, not one a line.
func TestLinesShareMemory(t *testing.T) {
	m, err := Compile(Query{Pattern: `\bneedle\w+`})
	if err != nil {
		t.Fatal(err)
	}
	const lines = 500
	s, text := NewScanner(m, Config{Width: 100}), strings.Repeat("here is needles\n", lines)
	var found FileResult
	n := testing.AllocsPerRun(20, func() {
		if found, err = s.Run(context.Background(), strings.NewReader(text), lines); err != nil {
			t.Fatal(err)
		}
	})
	if len(found.Lines) != lines || n > lines/20 {
		t.Errorf("%d lines took %.0f allocations", len(found.Lines), n)
	}
	if size := unsafe.Sizeof(Line{}); unsafe.Sizeof(0) == 8 && size > 56 {
		t.Errorf("a line takes %d bytes beside its text", size)
	}
	first := found.Lines[0].Text
	if _, err := s.Run(context.Background(), strings.NewReader(strings.ToUpper(text)), lines); err != nil || first != "here is needles" {
		t.Errorf("after the next file the first line is %q, %v", first, err)
	}
}
