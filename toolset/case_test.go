package toolset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"adze/internal/files/workspace"
	"adze/internal/testkit/golden"
	"adze/tool"
)

// TestCases runs testdata/tool/<name>/*.txtar. Each line of a case's input is one call: the
// arguments of the tool that the folder is named after, or another tool's name and its arguments,
// to set the scene. A section setup.sh runs before them, see setUp. The wants are those of the last
// call; $WORK stands for the workspace.
func TestCases(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "testdata", "tool")
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		name := folder.Name()
		t.Run(name, func(t *testing.T) {
			golden.Cases(t, filepath.Join(root, name), func(t *testing.T, c *golden.Case) {
				runCase(t, name, c)
			})
		})
	}
}

func runCase(t *testing.T, name string, c *golden.Case) {
	t.Parallel()
	dir := t.TempDir()
	c.Layout(t, dir)
	sameTimes(t, dir)
	setUp(t, c, dir)
	var last played
	bench := newBench(t, dir)
	for _, line := range strings.Split(c.Input, "\n") {
		which, args := splitCall(name, line)
		last = bench.play(t, which, args)
	}
	o := last.outcome
	hide := func(s string) string { return strings.ReplaceAll(s, bench.dir, "$WORK") }
	c.Want(t, "want.needs", hide(last.needs))
	c.Want(t, "want.output", hide(o.Output))
	c.Want(t, "want.title", hide(o.Title))
	c.Want(t, "want.mistakes", hide(strings.Join(bench.mistakes, "\n")))
	c.Want(t, "want.status", string(o.Status))
	c.Want(t, "want.code", o.Code)
	c.Want(t, "want.audit", hide(string(o.Record.Args)))
	c.Want(t, "want.meta", hide(indented(t, o.Metadata)))
	c.Want(t, "want.blocks", hide(drawn(bench.set.Blocks(o.Tool, o.Metadata))))
	for _, section := range c.Sections("want.") {
		if !knownWant(section) {
			t.Errorf("%s: nothing fills %s", c.Path, section)
		}
	}
	for _, file := range c.Sections("want.files/") {
		got, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(file, "want.files/")))
		if err != nil {
			got = []byte("(missing)")
		}
		c.Want(t, file, string(got))
	}
}

// sameTimes makes all files of a case as old as one another, so that an order by time is that of
// names.
func sameTimes(t *testing.T, dir string) {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// knownWant keeps a misspelt section from passing for ever.
func knownWant(section string) bool {
	switch section {
	case "want.mistakes", "want.needs", "want.output", "want.title", "want.status", "want.code", "want.audit", "want.meta", "want.blocks":
		return true
	}
	return strings.HasPrefix(section, "want.files/")
}

var callLine = regexp.MustCompile(`^([a-z][a-z_]*) (.*)$`)

func splitCall(name, line string) (which, args string) {
	if m := callLine.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	return name, line
}

// bench is a catalogue over one workspace, with a gate that allows and remembers.
type bench struct {
	dir    string
	set    *tool.Set
	runner *tool.Runner
	needs  []tool.Need
	calls  int
	flaw   error // that the check of the last call found
	// mistakes of the tools that the case declares in its folder declared.
	mistakes []string
}

func newBench(t testing.TB, dir string) *bench {
	t.Helper()
	deps := caseDeps(t, dir)
	deps.Declared = &Declared{Dir: filepath.Join(deps.Root.Dir(), "declared")}
	registry, err := New(deps)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: deps.Root.Dir()}
	for _, m := range deps.Declared.Mistakes {
		b.mistakes = append(b.mistakes, m.Error())
	}
	b.set, err = registry.Tools(t.Context(), tool.Init{Workspace: b.dir, Directory: b.dir, Cwd: b.dir})
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b.runner = &tool.Runner{
		Session: "case", Now: func() time.Time { return clock },
		Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
			b.needs = append(b.needs, q.Needs...)
			if q.Check != nil {
				b.flaw = q.Check(t.Context(), func(tool.Need) bool { return true })
			}
			return tool.Decision{Allow: true}, nil
		}),
	}
	return b
}

// caseDeps is what the built-in tools get in a case. A new dependency of a tool is added here.
func caseDeps(t testing.TB, dir string) Deps {
	t.Helper()
	root, err := workspace.OpenWith(dir, workspace.Options{LockDir: t.TempDir(), Home: filepath.Join(dir, "home")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return Deps{Root: root, KnownFiles: &workspace.KnownFiles{}, Web: caseWeb(dir), Shell: caseShell(t, dir), Env: noEnv, Finder: caseFinder{}, Tasks: caseTasks(dir), Inquire: casePerson(dir), Plans: plansOf(dir), Search: caseEngine(dir)}
}

// noEnv keeps the configuration of whoever runs the tests out of them.
func noEnv(name string) string {
	return map[string]string{"GIT_CONFIG_NOSYSTEM": "1"}[name]
}

// played is one call's needs and outcome.
type played struct {
	needs   string
	outcome tool.Outcome
}

func (b *bench) play(t testing.TB, name, args string) played {
	t.Helper()
	b.needs, b.flaw = nil, nil
	b.calls++
	call := tool.RawCall{ID: tool.CallID(fmt.Sprintf("call_%d", b.calls)), Name: name, Arguments: args}
	h := b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{call})
	o := b.runner.Exec(t.Context(), h[0])
	foreseen(t, o, b.flaw)
	var lines []string
	for _, n := range b.needs {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", n.Permission, n.Target, n.Dir)))
	}
	return played{needs: strings.Join(lines, "\n"), outcome: o}
}

func indented(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// drawn shows blocks as plain text.
func drawn(blocks []tool.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		fmt.Fprintf(&b, "[%s] %s %s", block.Kind, block.Title, block.Path)
		if block.Line > 0 {
			fmt.Fprintf(&b, " from line %d", block.Line)
		}
		b.WriteByte('\n')
		if block.Text != "" {
			b.WriteString(strings.TrimSuffix(block.Text, "\n") + "\n")
		}
		for _, item := range block.Items {
			fmt.Fprintln(&b, strings.TrimSpace(strings.Join([]string{"-", item.State, item.Text, item.Note}, " ")))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
