package mcp

import (
	"fmt"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// What a program wrote last is kept when it has ended, for the user to see why.
func TestLastWordsOfAProgramThatEnded(t *testing.T) {
	p := pool(t, map[string]string{"fake": "exit at tools/list"}, func(o *Options) {
		o.Mask = func(s string) string { return strings.ReplaceAll(s, "first", "***") }
	})
	if got := p.LastWords("fake"); got != "" {
		t.Errorf("before it ran: %q", got)
	}
	if err := p.Await(t.Context(), "fake"); err == nil {
		t.Fatal("it works")
	}
	if got := p.LastWords("fake"); got != "*** words\ncannot go on" {
		t.Errorf("%q", got)
	}
	if got := p.LastWords("other"); got != "" {
		t.Errorf("of a server that is not there: %q", got)
	}
}

// The last lines are few, short and clean, whatever was written.
func TestLastLinesAreBoundedAndClean(t *testing.T) {
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	mask := func(s string) string { return strings.ReplaceAll(s, "SECRET", "***") }
	for _, c := range []struct{ wrote, begins, ends string }{
		{many.String(), "line 9980\n", "line 9999"},
		{"a\x1b[31m SECRET\r\n\u202eb", "a[31m ***\nb", "b"},
		{"one\n" + strings.Repeat("x", 6000), "xxx", "xxx"},
		{"one\n" + strings.Repeat("x", 3000) + "\n" + strings.Repeat("y", 3000), "xxx", "yyy"},
		{strings.Repeat("x", 1<<20) + "SECRET", "", ""},
		{"", "", ""},
	} {
		out := proc.NewOutput(1<<10, errorRing)
		if _, err := out.Write([]byte(c.wrote)); err != nil {
			t.Fatal(err)
		}
		got := lastLines(out, mask)
		if !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, c.ends) || len(got) > maxWords+len("…") || strings.Count(got, "\n") >= maxWordLines || strings.Contains(got, "SECRET") {
			t.Errorf("%.40q: %d bytes, %.60q", c.wrote, len(got), got)
		}
	}
}
