package toolset

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adze/tool"
)

// TestReadsAFileOfOneLineInParts goes through ten megabytes in one line as a model would, by what
// each part says of the next, and begins in the middle where grep found something.
func TestReadsAFileOfOneLineInParts(t *testing.T) {
	dir := t.TempDir()
	var json strings.Builder
	json.WriteString("[")
	for i := 0; json.Len() < 10<<20; i++ {
		fmt.Fprintf(&json, `{"id":%d,"näme":"x"},`, i)
	}
	json.WriteString(`{"needle":1}]`)
	if err := os.WriteFile(filepath.Join(dir, "min.json"), []byte(json.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, dir)
	o := b.play(t, "read", `{"path":"min.json"}`).outcome
	if !strings.Contains(o.Output, "more bytes in this line: offset 1, column ") {
		t.Fatalf("no way to go on: %s", o.Output[max(0, len(o.Output)-200):])
	}
	next := regexp.MustCompile(`continue with column (\d+)\)$`)
	column, got := "1", strings.Builder{}
	for n := 0; n < 3; n++ {
		o := b.play(t, "read", `{"path":"min.json","offset":1,"column":`+column+`}`).outcome
		m := next.FindStringSubmatch(o.Output)
		if o.Status != tool.Completed || m == nil || o.Truncated {
			t.Fatalf("part %d: %s %s", n, o.Code, o.Output[max(0, len(o.Output)-200):])
		}
		got.WriteString(o.Output[:strings.LastIndexByte(o.Output, '\n')])
		column = m[1]
	}
	if !strings.HasPrefix(json.String(), got.String()) || got.Len() < 100<<10 {
		t.Errorf("%d bytes, not those of the file", got.Len())
	}
	o = b.play(t, "grep", `{"pattern":"needle"}`).outcome
	at := regexp.MustCompile(`from column (\d+)`).FindStringSubmatch(o.Output)
	if at == nil {
		t.Fatalf("grep does not say where: %s", o.Output)
	}
	o = b.play(t, "read", `{"path":"min.json","column":`+at[1]+`}`).outcome
	if !strings.Contains(o.Output, `{"needle":1}]`) || next.MatchString(o.Output) {
		t.Errorf("the end: %s", o.Output)
	}
	for _, args := range []string{`{"path":"min.json","column":99999999}`, `{"path":"min.json","offset":2,"column":1}`} {
		if o := b.play(t, "read", args).outcome; o.Code != tool.CodeInvalidArguments {
			t.Errorf("%s: %s %s", args, o.Code, o.Output)
		}
	}
}
