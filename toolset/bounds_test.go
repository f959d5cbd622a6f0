package toolset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/web"
	"adze/tool"
)

// newBoundedBench is the catalogue over one workspace with bounds of the user's own.
func newBoundedBench(t *testing.T, dir string, b Bounds) *bench {
	t.Helper()
	deps := caseDeps(t, dir)
	deps.Bounds, deps.Shell.Bounds = b, b
	registry, err := New(deps)
	if err != nil {
		t.Fatal(err)
	}
	x := newBench(t, dir)
	if x.set, err = registry.Tools(t.Context(), tool.Init{Workspace: x.dir, Directory: x.dir, Cwd: x.dir}); err != nil {
		t.Fatal(err)
	}
	x.runner.Clip = tool.Clip{Lines: b.Lines, Bytes: b.Bytes}
	return x
}

func (b *bench) put(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Whatever bound a user sets, the footer that says what was left out and how to go on is there, and
// the pipeline does not cut a second time.
func TestFootersSurviveEveryBound(t *testing.T) {
	dir := t.TempDir()
	put := (&bench{dir: dir}).put
	put(t, "long.txt", strings.Repeat(strings.Repeat("word ", 60)+"\n", 4000))
	for i := range 1000 {
		put(t, fmt.Sprintf("d/%s-%04d.txt", strings.Repeat("n", 100), i), "")
	}
	for _, bounds := range []Bounds{{}, {Lines: 30}, {Bytes: 2000}, {Lines: 2, Bytes: 1024}, {Lines: 900, Bytes: 100 << 10}} {
		t.Run(fmt.Sprintf("%d lines, %d bytes", bounds.Lines, bounds.Bytes), func(t *testing.T) {
			t.Parallel()
			b := newBoundedBench(t, dir, bounds)
			for name, c := range map[string]struct{ arguments, end string }{
				"read": {`{"path":"long.txt"}`, "; continue with offset "},
				"grep": {`{"pattern":"word","context":2,"limit":9999999}`, ", or choose "},
				"glob": {`{"pattern":"**","limit":9999999}`, " of 1001 files, newest first; narrow the pattern or path)"},
				"list": {`{"path":"d","limit":9999999}`, "files not shown: list a folder by itself, or use glob)"},
				"bash": {`{"command":"cat long.txt"}`, "exit code 0 after 0s"},
			} {
				o := b.play(t, name, c.arguments).outcome
				if o.Status != tool.Completed || strings.Contains(o.Output, "output cut") || !strings.Contains(o.Output, c.end) {
					t.Errorf("%s: %s: … %.300q", name, o.Status, o.Output[max(0, len(o.Output)-300):])
				}
				if size, lines := len(o.Output), strings.Count(o.Output, "\n"); size > bounds.bytes()+footBytes || lines > bounds.lines()+footLines {
					t.Errorf("%s: %d lines, %d bytes", name, lines, size)
				}
			}
		})
	}
}

// read gives 2,000 lines, and a page may have 100 KB, whatever the pipeline lets through else.
func TestReadAndWebfetchHaveTheirOwnBounds(t *testing.T) {
	b := newBoundedBench(t, t.TempDir(), Bounds{})
	b.put(t, "f", strings.Repeat("x\n", 5000))
	o := b.play(t, "read", `{"path":"f"}`).outcome
	if !strings.Contains(o.Output, "\n2000  x\n(3000 more lines; continue with offset 2001)") || o.Truncated {
		t.Errorf("… %q", o.Output[len(o.Output)-100:])
	}
	for size, cut := range map[int]bool{90 << 10: false, 110 << 10: true} {
		page := web.Page{URL: "https://x.example/", Status: 200, Text: numbered(size / 100)}
		o := runWebfetch(t, pages(func(web.Request) (web.Page, error) { return page, nil }), `{"url":"https://x.example/"}`)
		if o.Truncated != cut || len(o.Output) > pageBytes+200 {
			t.Errorf("a page of %d bytes: %d, cut %v", size, len(o.Output), o.Truncated)
		}
	}
}

// A user's times for commands are those that the model is told and held to.
func TestBashTimesAreThePersons(t *testing.T) {
	b := newShellBench(t, func(s *Shell) { s.Timeout, s.MaxTimeout = 7*time.Second, 9*time.Second })
	d, _ := b.set.Get("bash")
	if !strings.Contains(d.Description, "After 7 seconds") || !strings.Contains(d.Description, "at most 9") {
		t.Error(d.Description)
	}
	if o := b.play(t, "bash", `{"command":"true","timeout":10}`).outcome; o.Status != tool.Completed || !strings.Contains(string(o.Record.Args), `"timeout":9`) {
		t.Errorf("%s %s", o.Record.Args, o.Output)
	}
}

// numbered are so many lines of a hundred bytes of which none is like another.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%099d\n", i*i*i)
	}
	return b.String()
}
