package toolset

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/posix"
	"adze/tool"
)

// lay writes files into a folder; a text that begins with "-> " makes a link.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o644)
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			_ = os.Remove(path)
			err = os.Symlink(to, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sameTimes(t, dir)
}

func TestSearchesQuoteOddNames(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir)
	lay(t, dir, map[string]string{"new\nline": "x", "latin\xe4": "x", "tab\t": "x", "plain name": "x"})
	for name, want := range map[string]string{
		"glob": "\"latin\\xe4\"\n\"new\\nline\"\nplain name\n\"tab\\t\"\n(4 files)",
		"list": "\"latin\\xe4\"  1 B\n\"new\\nline\"  1 B\nplain name  1 B\n\"tab\\t\"  1 B\n(0 folders, 4 files)",
		"grep": "\"latin\\xe4\"\n\"new\\nline\"\nplain name\n\"tab\\t\"\n\n(4 files; searched 4 files)",
	} {
		args := map[string]string{"glob": `{"pattern":"*"}`, "list": `{}`, "grep": `{"pattern":"x","mode":"files"}`}[name]
		if got := b.play(t, name, args).outcome.Output; got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

func TestSearchesStayInTheTree(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	b := newBench(t, dir)
	lay(t, outside, map[string]string{"secret": "needle"})
	lay(t, dir, map[string]string{"a": "needle"})
	for name, to := range map[string]string{"out": outside, "loop": ".", "self": "self", "file": outside + "/secret"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.play(t, "grep", `{"pattern":"needle","mode":"files"}`).outcome.Output; got != "a\n\n(1 file; searched 1 file)" {
		t.Errorf("grep: %s", got)
	}
	if got := b.play(t, "glob", `{"pattern":"**"}`).outcome.Output; strings.Contains(got, "secret") || strings.Contains(got, "loop/") {
		t.Errorf("glob: %s", got)
	}
	got := b.play(t, "list", `{"depth":20}`).outcome.Output
	if !strings.Contains(got, "loop@ -> .\n") || !strings.Contains(got, "out@ -> "+outside+"\n") || strings.Contains(got, "  secret") {
		t.Errorf("list: %s", got)
	}
}

// TestSearchesAskForWhereALinkLeads names a link in the workspace that leads out of it.
func TestSearchesAskForWhereALinkLeads(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	b := newBench(t, dir)
	lay(t, outside, map[string]string{"secret": "x"})
	lay(t, dir, map[string]string{"out": "-> " + outside})
	real, err := filepath.EvalSymlinks(outside)
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{"glob": `{"pattern":"*","path":"out"}`, "grep": `{"pattern":"x","path":"out"}`, "list": `{"path":"out"}`} {
		p := b.play(t, name, args)
		if p.needs != "read out\nread "+real || p.outcome.Status != tool.Completed {
			t.Errorf("%s: needs %q, %s %s", name, p.needs, p.outcome.Status, p.outcome.Output)
		}
	}
}

func TestSearchesNeverWaitForAFIFO(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir)
	if err := posix.Fifo(t, filepath.Join(dir, "pipe")); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	for _, c := range []struct{ name, args, code, want string }{
		{"grep", `{"pattern":"x"}`, "", "no file was searched"},
		{"grep", `{"pattern":"x","path":"pipe"}`, tool.CodeNotRegular, "not a regular file"},
		{"glob", `{"pattern":"*"}`, "", "no file in the workspace"},
		{"glob", `{"pattern":"*","path":"pipe"}`, tool.CodeInvalidArguments, "not a folder"},
		{"list", `{}`, "", "pipe  not a regular file"},
		{"list", `{"path":"pipe"}`, tool.CodeInvalidArguments, "not a folder"},
	} {
		o := b.play(t, c.name, c.args).outcome
		if o.Code != c.code || !strings.Contains(o.Output, c.want) {
			t.Errorf("%s %s: %q %s", c.name, c.args, o.Code, o.Output)
		}
	}
}

func TestSearchArgumentsOutOfRange(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir)
	lay(t, dir, map[string]string{"a": "x\nx"})
	for _, c := range []struct {
		name, args string
		want       tool.Status
	}{
		{"glob", `{"pattern":"*","limit":9007199254740991}`, tool.Completed},
		{"glob", `{"pattern":"*","limit":1e300}`, tool.Invalid},
		{"glob", `{"pattern":""}`, tool.Failed},
		{"glob", `{"pattern":["*"]}`, tool.Invalid},
		{"glob", `{"pattern":"*","path":"a\u0000b"}`, tool.Failed},
		{"glob", `{"pattern":"*","depth":3}`, tool.Invalid},
		{"grep", `{"pattern":"x","context":1000000,"limit":1000000,"per_file":1000000}`, tool.Completed},
		{"grep", `{"pattern":"x","before":-1}`, tool.Invalid},
		{"grep", `{"pattern":"x","mode":"tree"}`, tool.Invalid},
		{"grep", `{"pattern":"x{1,100000}"}`, tool.Failed},
		{"grep", `{}`, tool.Invalid},
		{"list", `{"depth":99999999999999999999}`, tool.Invalid},
		{"list", `{"limit":2147483647}`, tool.Completed},
		{"list", `{"path":"` + strings.Repeat("a", 300) + `"}`, tool.Failed},
	} {
		if o := b.play(t, c.name, c.args).outcome; o.Status != c.want || (o.Status != tool.Completed && o.Code == "") {
			t.Errorf("%s %.60s: %s %q %s", c.name, c.args, o.Status, o.Code, o.Output)
		}
	}
}

func TestAbortedSearch(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir)
	lay(t, dir, map[string]string{"a": "x"})
	for name, args := range map[string]string{"glob": `{"pattern":"*"}`, "grep": `{"pattern":"x"}`, "list": `{}`} {
		h := b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{{ID: tool.CallID(name), Name: name, Arguments: args}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if o := b.runner.Exec(ctx, h[0]); o.Status != tool.Aborted || o.Code != tool.CodeAborted {
			t.Errorf("%s: %s %q %s", name, o.Status, o.Code, o.Output)
		}
	}
}

func TestGlobLists(t *testing.T) {
	for list, want := range map[string][]string{
		"":                     nil,
		"*.go":                 {"*.go"},
		"*.go, *.{ts,tsx},":    {"*.go", "*.{ts,tsx}"},
		`a\,b,[,],c`:           {`a\,b`, "[,]", "c"},
		" , ,x":                {"x"},
		"{a,b},{c,{d,e}}/**,}": {"{a,b}", "{c,{d,e}}/**", "}"},
	} {
		if got := globs(list); !slices.Equal(got, want) {
			t.Errorf("globs(%q) = %q, want %q", list, got, want)
		}
	}
}

// Models write the workspace's path in front of a pattern: inside it that means what the rest
// means.
func TestAbsolutePatternsInsideTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	b := newBoundedBench(t, dir, Bounds{})
	for _, name := range []string{"top.go", "src/a.go", "src/deep/b.go", "src/c.txt", "vendor/v.go"} {
		b.put(t, name, "needle\n")
	}
	for call, want := range map[string]string{
		`glob {"pattern":"DIR/**/*.go"}`:                                "src/a.go src/deep/b.go top.go vendor/v.go",
		`glob {"pattern":"DIR/*.go"}`:                                   "top.go",
		`glob {"pattern":"DIR/src/*"}`:                                  "src/a.go src/c.txt",
		`glob {"pattern":"DIR/src/**/*.go","path":"src"}`:               "src/a.go src/deep/b.go",
		`glob {"pattern":"DIR/**/*.go","path":"src"}`:                   "src/a.go src/deep/b.go",
		`glob {"pattern":"DIR/src/","path":"DIR/src"}`:                  "src/a.go src/c.txt src/deep/b.go",
		`grep {"pattern":"needle","mode":"files","include":"DIR/*.go"}`: "top.go",
		`grep {"pattern":"needle","mode":"files","include":"DIR/**/*.go","exclude":"DIR/vendor/**, DIR/src/deep"}`: "src/a.go top.go",
		`list {"path":"DIR","ignore":"DIR/src, DIR/vendor"}`:                                                       "top.go",
	} {
		name, args, _ := strings.Cut(strings.ReplaceAll(call, "DIR", dir), " ")
		o := b.play(t, name, args).outcome
		var got []string
		for line := range strings.Lines(o.Output) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "(") {
				got = append(got, strings.Fields(line)[0])
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, %q", call, o.Status, o.Output)
		}
	}
	for _, call := range []string{`{"pattern":"/etc/*.conf"}`, `{"pattern":"DIR/../*"}`, `{"pattern":"DIRx/*"}`, `{"pattern":"DIR/src/*.go","path":"vendor"}`} {
		if o := b.play(t, "glob", strings.ReplaceAll(call, "DIR", dir)).outcome; o.Status == tool.Completed {
			t.Errorf("%s: %q", call, o.Output)
		}
	}
}
