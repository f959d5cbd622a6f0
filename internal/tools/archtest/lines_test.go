package archtest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestLinesOnlyFall holds the lines of each room at the committed ceilings. A new room takes its
// lines from another one: the sum is a ceiling, too.
func TestLinesOnlyFall(t *testing.T) {
	rooms, err := Lines(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	const table = "testdata/lines.txt"
	raw, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	ceilings := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		var n int
		var room string
		if _, err := fmt.Sscan(line, &n, &room); err != nil {
			t.Fatalf("%s: %q: %v", table, line, err)
		}
		ceilings[room] = n
	}
	var lowered strings.Builder
	sum := 0
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		n := rooms[room]
		sum += n
		ceiling, known := ceilings[room]
		if !known {
			t.Logf("%s is new, with %d lines", room, n)
			ceiling = n
		}
		if n > ceiling {
			t.Errorf("%s has %d lines, and %d may be there: take out what the new code makes needless", room, n, ceiling)
		}
		fmt.Fprintf(&lowered, "%d %s\n", min(n, ceiling), room)
	}
	if sum > ceilings["sum"] {
		t.Errorf("the tree has %d lines, and %d may be there", sum, ceilings["sum"])
	}
	fmt.Fprintf(&lowered, "%d sum\n", min(sum, ceilings["sum"]))
	t.Logf("%d lines in all", sum)
	if *update && !t.Failed() {
		if err := os.WriteFile(table, []byte(lowered.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLinesCountCodeOfEveryLanguage(t *testing.T) {
	tree := fstest.MapFS{
		"main.go":                    {Data: []byte("a\nb\n")},
		"tool/tool.go":               {Data: []byte("a\n")},
		"tool/tool_test.go":          {Data: []byte("a\n")},
		"tool/testdata/x.go":         {Data: []byte("a\n")},
		"internal/page/x/page.js":    {Data: []byte("a\nb\nc\n")},
		"internal/page/names.table":  {Data: []byte("a\n")},
		"internal/page/readme.md":    {Data: []byte("a\n")},
		".ci/run.sh":                 {Data: []byte("a\n")},
		"internal/other/assembler.s": {Data: []byte("a\n")},
	}
	got, err := Lines(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{".": 2, "tool": 1, "internal/page": 4, "internal/other": 1}
	if !maps.Equal(got, want) {
		t.Errorf("lines are %v, want %v", got, want)
	}
}
