package toolset

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestALongLogShowsItsShapeFirst(t *testing.T) {
	b := newBoundedBench(t, t.TempDir(), Bounds{})
	var log strings.Builder
	for i := 1; i <= 5000; i++ {
		switch {
		case i == 3127:
			fmt.Fprintf(&log, "10:00:00 ERROR connection %x refused\n", i*7919)
		case i > 1000 && i < 2000:
			log.WriteString("10:00:00 waiting\n")
		default:
			fmt.Fprintf(&log, "10:%02d:%02d request %x took %d ms, 0 errors\n", i/60%60, i%60, i*104729, i*i%977)
		}
	}
	b.put(t, "app.log", log.String())
	lines := strings.Split(log.String(), "\n")
	o := b.play(t, "read", `{"path":"app.log"}`).outcome
	if len(o.Output) > 12<<10 || !strings.Contains(o.Output, "3127  10:00:00 ERROR") || !strings.Contains(o.Output, "the shape of 5000 lines, ") || !strings.Contains(o.Output, "all 1 line that tell") {
		t.Errorf("%d bytes:\n%s", len(o.Output), o.Output)
	}
	numbered := 0
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+)  (.*)$`).FindAllStringSubmatch(o.Output, -1) {
		numbered++
		if n, _ := strconv.Atoi(m[1]); lines[n-1] != m[2] {
			t.Errorf("line %d is %q and is shown as %q", n, lines[n-1], m[2])
		}
	}
	if numbered < 40 {
		t.Errorf("only %d lines are shown", numbered)
	}
	for call, want := range map[string]string{
		`{"path":"app.log","offset":1}`:              "continue with offset",
		`{"path":"app.log","offset":1500,"limit":2}`: "1500  10:00:00 waiting\n1501  10:00:00 waiting\n",
		`{"path":"app.log","limit":3}`:               "\n   3  ",
	} {
		if o := b.play(t, "read", call).outcome; strings.Contains(o.Output, "shape") || !strings.Contains(o.Output, strings.TrimLeft(want, " ")) && !strings.Contains(o.Output, "3  10:") {
			t.Errorf("%s: %.300s", call, o.Output)
		}
	}
	// Source, data that is edited, and short logs are shown as they stand.
	for _, name := range []string{"main.go", "data.csv", "notes.md", "changelog.md", "config.yaml"} {
		b.put(t, name, log.String())
		if o := b.play(t, "read", `{"path":"`+name+`"}`).outcome; strings.Contains(o.Output, "the shape of") {
			t.Errorf("%s is taken for a log", name)
		}
	}
	b.put(t, "catalog.txt", strings.Repeat("an entry\n", 5000))
	if o := b.play(t, "read", `{"path":"catalog.txt"}`).outcome; strings.Contains(o.Output, "the shape of") {
		t.Error("a list is taken for a log")
	}
	b.put(t, "short.log", strings.Join(lines[:100], "\n"))
	if o := b.play(t, "read", `{"path":"short.log"}`).outcome; strings.Contains(o.Output, "the shape of") || !strings.Contains(o.Output, "100  10:") {
		t.Errorf("a short log: %.200s", o.Output)
	}
}
