package archtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestModuleKeepsItsShape is the check of the real tree.
func TestModuleKeepsItsShape(t *testing.T) {
	found, err := Check(os.DirFS("../../.."), Rules{Table: Table(), Exceptions: Exceptions(), Starts: allStarts})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// story is the least that a package tells.
const story = "// Package p is. Start at P. Known limits: none.\n"

// inMemory makes a small module. A file without a package clause gets one with a story.
func inMemory(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module adze\n")}}
	for name, text := range files {
		if !strings.Contains(text, "package ") {
			text = story + "package p\n" + text
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// broken runs the real table over a small tree; want lists a piece of each violation, in order.
func broken(t *testing.T, files map[string]string, want ...string) {
	t.Helper()
	brokenBy(t, Rules{Table: Table()}, files, want...)
}

func brokenBy(t *testing.T, rules Rules, files map[string]string, want ...string) {
	t.Helper()
	found, err := Check(inMemory(files), rules)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(want) {
		t.Errorf("%d violations, want %d: %v", len(found), len(want), found)
		return
	}
	for i, v := range found {
		if !strings.Contains(v.String(), want[i]) {
			t.Errorf("violation %d is %q, want it to say %q", i, v, want[i])
		}
		if v.Fix == "" {
			t.Errorf("%v says no next move", v)
		}
	}
}

func TestArrows(t *testing.T) {
	cases := map[string]struct {
		file, imports, want string
	}{
		"toolset reaches tools":            {"toolset/a.go", "adze/tool", ""},
		"toolset reaches a helper":         {"toolset/a.go", "adze/internal/files/search", ""},
		"toolset must not know sessions":   {"toolset/a.go", "adze/session", "toolset/a.go:3: toolset may not import session"},
		"tool knows nobody":                {"tool/a.go", "adze/internal/files/search", "the centre knows nobody"},
		"tool does no I/O":                 {"tool/a.go", "os", "tool imports os"},
		"tool does no I/O deep":            {"tool/a.go", "net/http", "tool imports net/http"},
		"tool may join paths":              {"tool/a.go", "path", ""},
		"a tool test may read files":       {"tool/a_test.go", "os", ""},
		"leaves are strangers":             {"internal/web/a.go", "adze/internal/files/diff", "leaf helpers import nothing of ours"},
		"leaves do not know tool":          {"internal/web/a.go", "adze/tool", "internal/web may not import tool"},
		"a helper splits itself":           {"internal/files/search/a.go", "adze/internal/files/search/match", ""},
		"its part is a leaf too":           {"internal/files/search/match/a.go", "adze/internal/web", "leaf helpers"},
		"its part may be used":             {"toolset/a.go", "adze/internal/files/search/match", ""},
		"the gate's settings reach git":    {"internal/policy/policyconfig/a.go", "adze/internal/files/git", ""},
		"policy must not know sessions":    {"internal/policy/a.go", "adze/session", "internal/policy may not import session"},
		"providers share wire":             {"internal/llm/openai/a.go", "adze/internal/llm/wire", ""},
		"providers are strangers":          {"internal/llm/openai/a.go", "adze/internal/llm/ollama", "not on one another"},
		"providers have fakes of servers":  {"internal/llm/openai/a_test.go", "adze/internal/testkit/llmtest", ""},
		"the suite knows all adapters":     {"internal/llm/conformance/a_test.go", "adze/internal/llm/openai", ""},
		"tui must not know providers":      {"tui/a.go", "adze/internal/llm/openai", "tui may not import"},
		"tui must not know tools":          {"tui/a.go", "adze/toolset", "tui may not import toolset"},
		"tui cleans text":                  {"tui/a.go", "adze/internal/text/safeterm", ""},
		"the interface uses its rooms":     {"tui/a.go", "adze/tui/pane", ""},
		"a pane draws":                     {"tui/pane/a.go", "adze/tui/draw", ""},
		"a pane knows no other room":       {"tui/pane/a.go", "adze/tui/prompt", "tui/pane may not import tui/prompt"},
		"a pane does not know the root":    {"tui/pane/a.go", "adze/tui", "tui/pane may not import tui"},
		"a pane has no event loop":         {"tui/pane/a.go", "charm.land/bubbletea/v2", "imports charm.land/bubbletea"},
		"a pane does no I/O":               {"tui/transcript/a.go", "os", "tui/transcript imports os"},
		"the prompt asks nobody":           {"tui/prompt/a.go", "net/http", "tui/prompt imports net/http"},
		"the choice knows adapters":        {"internal/llm/models/a.go", "adze/internal/llm/openai", ""},
		"the choice knows no interface":    {"internal/llm/models/a.go", "adze/tui", "internal/llm/models may not import tui"},
		"only the program shows":           {"internal/live/a.go", "adze/tui/draw", "internal/live may not import tui/draw"},
		"editors have no terminal":         {"internal/editors/acp/a.go", "adze/tui/permission", "internal/editors/acp may not import tui/permission"},
		"live sessions know no command":    {"internal/live/a.go", "adze/internal/cmd/stdio", "internal/live may not import"},
		"commands do not start the run":    {"internal/cmd/batch/a.go", "adze/internal/run/flags", "internal/cmd/batch may not import internal/run/flags"},
		"settings know no model":           {"internal/config/a.go", "adze/internal/llm/models", "internal/config may not import"},
		"keys are no setting's concern":    {"internal/config/keyring/a.go", "adze/internal/sandbox/proc", "internal/config/keyring may not import"},
		"the sandbox is below files":       {"internal/sandbox/a.go", "adze/internal/files/workspace", "internal/sandbox may not import"},
		"anybody replaces a file":          {"internal/sandbox/a.go", "adze/internal/osfile/atomicfile", ""},
		"main starts the app":              {"main.go", "adze/internal/run", ""},
		"main does nothing else":           {"main.go", "adze/tool", ". may not import tool"},
		"nobody else starts the app":       {"internal/cmd/stdio/a.go", "adze/internal/run", "internal/cmd/stdio may not import internal/run"},
		"app sees all":                     {"internal/run/a.go", "adze/internal/llm/openai", ""},
		"anybody counts":                   {"tui/pane/a.go", "adze/internal/text/plural", ""},
		"what counts knows nobody":         {"internal/text/plural/a.go", "adze/tool", "internal/text/plural may not import tool"},
		"golden is for tests":              {"session/a.go", "adze/internal/testkit/golden", "session may not import internal/testkit/golden"},
		"tests use golden":                 {"session/a_test.go", "adze/internal/testkit/golden", ""},
		"tests use the memory store":       {"session/a_test.go", "adze/internal/sessiondb", ""},
		"tests do not use everything":      {"session/a_test.go", "adze/toolset", "session may not import toolset"},
		"external tests import their own":  {"session/a_test.go", "adze/session", ""},
		"other modules are not our arrows": {"session/a.go", "adze.example/toolset", ""},
		"the top level is fixed":           {"utils/a.go", "fmt", "the top level of the module is fixed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			files := map[string]string{c.file: "import _ \"" + c.imports + "\"\n"}
			if strings.HasSuffix(c.file, "_test.go") {
				files[strings.TrimSuffix(c.file, "_test.go")+".go"] = ""
			}
			broken(t, files, want...)
		})
	}
}

func TestArrowsSkipWhatGoSkips(t *testing.T) {
	const wrong = "import _ \"adze/internal/run\"\n"
	files := map[string]string{
		"tool/testdata/a.go": wrong, "_old/a.go": wrong, ".ci/lint/a.go": wrong,
		"lint/go.mod": "module lint\n// package none", "lint/a.go": wrong,
	}
	broken(t, files)
}

func TestStory(t *testing.T) {
	broken(t, map[string]string{"tool/a.go": "package tool\n"}, "does not tell what it is for or where")
	broken(t, map[string]string{"tool/a.go": "// Package tool is.\npackage tool\n"}, "does not tell what it is for or where")
	broken(t, map[string]string{"tool/a.go": "// Package tool is. Start at A.\npackage tool\n"})
	broken(t, map[string]string{"tool/a.go": "package tool\n", "tool/tool.go": story + "package tool\n"})
	broken(t, map[string]string{"tool/a.go": "package tool\n", "tool/a_test.go": "package tool\n"}, "does not tell what it is for")
	broken(t, map[string]string{"main.go": "// Command x is.\npackage main\n"})
	broken(t, map[string]string{"tool/a_test.go": "package tool\n"})
}

func TestState(t *testing.T) {
	cases := map[string]struct{ code, want string }{
		"init":                   {"func init() {}", "init() is work at import"},
		"a method called init":   {"type T struct{}\nfunc (T) init() {}", ""},
		"regexp":                 {"var re = regexp.MustCompile(`a`)", "re calls regexp.MustCompile at import"},
		"regexp inside a value":  {"var re = []any{1, regexp.MustCompile(`a`)}", "regexp.MustCompile"},
		"regexp put off":         {"var re = sync.OnceValue(func() any { return regexp.MustCompile(`a`) })", ""},
		"make":                   {"var m = make(map[string]int)", "m calls make at import"},
		"sentinel":               {"var ErrX = errors.New(`x`)", ""},
		"conversion":             {"var b = []byte(`x`)", ""},
		"table":                  {"var names = []string{`a`}", ""},
		"proof":                  {"var _ I = f(nil)\nfunc g() { _ = 1 }", ""},
		"assigned":               {"var n int\nfunc f() { n = 1 }", "p.go:4: the package variable n changes here"},
		"counted":                {"var n int\nfunc f() { n++ }", "n changes"},
		"map written":            {"var m = map[string]int{}\nfunc f() { m[`a`] = 1 }", "m changes"},
		"map cleared":            {"var m = map[string]int{}\nfunc f() { delete(m, `a`) }", "m changes"},
		"field written":          {"var v struct{ n int }\nfunc f() { v.n = 1 }", "v changes"},
		"address taken":          {"var n int\nfunc f() *int { return &n }", "n changes"},
		"ranged into":            {"var n int\nfunc f() { for n = range 3 { } }", "n changes"},
		"shadowed by :=":         {"var n int\nfunc f() { n := 0; n = 1; _ = n }", ""},
		"shadowed by var":        {"var n int\nfunc f() { var n int; n = 1; _ = n }", ""},
		"shadowed by a param":    {"var n int\nfunc f(n int) { n = 1 }", ""},
		"mutex":                  {"var mu sync.Mutex", "mu has type sync.Mutex"},
		"counter":                {"var n atomic.Int64", "n has type atomic.Int64"},
		"map by its literal":     {"var m = sync.Map{}", "m has type sync.Map"},
		"read only is no change": {"var names = []string{`a`}\nfunc f() int { return len(names[0]) }", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			broken(t, map[string]string{"tool/p.go": c.code + "\n"}, want...)
		})
	}
}

func TestStateIsSeenAcrossFiles(t *testing.T) {
	broken(t, map[string]string{"tool/a.go": "var n int\n", "tool/b.go": "func f() { n = 1 }\n"}, "tool/b.go:3: the package variable n")
}

func TestStateOfTestsIsTheirOwn(t *testing.T) {
	broken(t, map[string]string{"tool/a.go": "", "tool/a_test.go": "var n int\nfunc init() { n = 1 }\n"})
}

func TestExceptions(t *testing.T) {
	code := map[string]string{"tool/p.go": "var n int\nfunc f() { n = 1 }\n"}
	excuse := Exception{Rule: ruleMutable, Package: "tool", Name: "n", Why: "counts"}
	brokenBy(t, Rules{Table: Table(), Exceptions: []Exception{excuse}}, code)
	excuse.Why = ""
	brokenBy(t, Rules{Table: Table(), Exceptions: []Exception{excuse}}, code, "has no reason")
	stale := Exception{Rule: ruleMutable, Package: "tool", Name: "m", Why: "counts"}
	brokenBy(t, Rules{Table: Table(), Exceptions: []Exception{stale}}, code, "excuses nothing", "n changes here")
}

// Nothing starts a process but internal/sandbox/proc, however it is written.
func TestProcessesAreStartedInOnePlace(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"a command":             {"internal/web/a.go", "import \"os/exec\"\nfunc f() { exec.Command(\"x\").Run() }\n", "it starts a process at 1 places, and 0 are listed"},
		"under another name":    {"internal/web/a.go", "import run \"os/exec\"\nfunc f() { run.CommandContext(nil, \"x\") }\n", "it starts a process at 1 places, and 0 are listed"},
		"without a name":        {"internal/web/a.go", "import . \"os/exec\"\nfunc f() { Command(\"x\") }\n", "imported without a name"},
		"as a value":            {"internal/web/a.go", "import \"os\"\nfunc f() any { return os.StartProcess }\n", "it starts a process at 1 places, and 0 are listed"},
		"as a struct":           {"internal/web/a.go", "import \"os/exec\"\nfunc f() { (&exec.Cmd{Path: \"x\"}).Start() }\n", "it starts a process at 1 places, and 0 are listed"},
		"a system call":         {"internal/web/a.go", "import \"syscall\"\nfunc f() { syscall.Exec(\"x\", nil, nil) }\n", "it starts a process at 1 places, and 0 are listed"},
		"a plugin":              {"internal/web/a.go", "import \"plugin\"\nfunc f() { plugin.Open(\"x\") }\n", "it starts a process at 1 places, and 0 are listed"},
		"only looking":          {"internal/web/a.go", "import \"os/exec\"\nfunc f() { exec.LookPath(\"x\") }\n", ""},
		"another package's own": {"internal/web/a.go", "import \"example.com/exec\"\nfunc f() { exec.Command(\"x\") }\n", ""},
		"in a test":             {"internal/web/a_test.go", "import \"os/exec\"\nfunc f() { exec.Command(\"x\") }\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			files := map[string]string{c.file: c.text, "internal/web/b.go": ""}
			broken(t, files, want...)
		})
	}
}

// Each place where a process is started is listed.
func TestStartsAreListed(t *testing.T) {
	const text = "import proc \"adze/internal/sandbox/proc\"\nfunc f() any { return proc.Command{Dir: \"x\"} }\n"
	const editor = "import \"os/exec\"\nfunc f() any { return exec.Command(`x`) }\n"
	const list = "internal/project/hooks/a.go | 1 | a hook\ninternal/run/b.go | 1 | an editor | the user | / | PATH | its terminal\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"listed":      {map[string]string{"internal/project/hooks/a.go": text}, nil},
		"a new place": {map[string]string{"internal/project/hooks/a.go": text, "internal/project/hooks/b.go": text}, []string{"internal/project/hooks/b.go: it starts a process at 1 places, and 0 are listed"}},
		"another way": {map[string]string{"internal/project/hooks/a.go": text + "func g() any { return &proc.Command{} }\n"}, []string{"2 places, and 1 are listed"}},
		"it has gone": {map[string]string{"internal/project/hooks/b.go": ""}, []string{"internal/project/hooks/a.go: a file that starts processes is listed"}},
		"itself":      {map[string]string{"internal/project/hooks/a.go": editor}, []string{"it starts a process itself: true; the reason for that: \"\""}},
		"no longer":   {map[string]string{"internal/project/hooks/a.go": text, "internal/run/b.go": text}, []string{"it starts a process itself: false"}},
		"in a test":   {map[string]string{"internal/project/hooks/a.go": text, "internal/project/hooks/a_test.go": text}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["internal/sandbox/proc/a.go"] = "type Command struct{ Dir string }\n"
			if c.files["internal/run/b.go"] == "" {
				c.files["internal/run/b.go"] = editor
			}
			brokenBy(t, Rules{Table: Table(), Starts: list}, c.files, c.want...)
		})
	}
}

// Packages of others that could start a process are known, each with why it does not.
func TestStartersAreKnown(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{join .Imports \" \"}}{{end}}", "adze").Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	known := starters()
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "adze") || !slices.Contains(words[1:], "os/exec") {
			continue
		}
		if known[words[0]] == "" {
			t.Errorf("%s imports os/exec: say in starts.go why it starts nothing by itself", words[0])
		}
		delete(known, words[0])
	}
	for name := range known {
		t.Errorf("%s starts nothing any more: take it out of starts.go", name)
	}
}

// Nothing replaces a file or reads lines in pieces but the leaves that are for it.
func TestFilesAreReplacedAndLinesReadInOnePlace(t *testing.T) {
	for text, want := range map[string]string{
		"import \"os\"\nfunc f() error { return os.Rename(\"a\", \"b\") }\n":                          "os.Rename gives a file another name",
		"import \"os\"\nfunc f() any { return os.Rename }\n":                                          "os.Rename gives a file another name",
		"import \"golang.org/x/sys/unix\"\nfunc f() { unix.Renameat(1, \"a\", 1, \"b\") }\n":          "unix.Renameat gives a file another name",
		"import \"bufio\"\nfunc f(err error) bool { return err == bufio.ErrBufferFull }\n":            "bufio.ErrBufferFull reads a line in pieces",
		"import \"os\"\nfunc f() { os.Remove(\"a\") }\n":                                              "",
		"type Dir interface{ Rename(a, b string) error }\nfunc f(d Dir) { d.Rename(\"a\", \"b\") }\n": "",
	} {
		var wanted []string
		if want != "" {
			wanted = []string{want}
		}
		broken(t, map[string]string{"internal/web/a.go": text, "internal/web/b.go": ""}, wanted...)
	}
	broken(t, map[string]string{"internal/osfile/atomicfile/a.go": "import \"os\"\nfunc f() { os.Rename(\"a\", \"b\") }\n"})
}

// Nothing runs the code of a tool but the pipeline, behind the gate.
func TestToolsAreRunInOneWay(t *testing.T) {
	center := map[string]string{
		"tool/a.go": "type Runner struct{ n int }\nfunc (r *Runner) Exec(n int) int { return n }\n" +
			"type Config[A, M any] struct { Needs func(A) int; Run func(A) (M, error) }\nfunc Define[A, M any](id string, c Config[A, M]) any { return c.Run }\n",
		"session/a.go": "import tool \"adze/tool\"\nfunc f(r *tool.Runner) { r.Exec(1) }\n",
		"toolset/a.go": "import tool \"adze/tool\"\ntype look struct{}\nfunc (l look) run(in string) (int, error) { return 1, nil }\nfunc (l look) check(in string) int { return 1 }\n" +
			"func helper(in string) (int, error) { return 1, nil }\n" +
			"func New() []any { return []any{tool.Define(\"look\", tool.Config[string, int]{Needs: look{}.check, Run: look{}.run}), tool.Define(\"help\", tool.Config[string, int]{Run: helper})} }\n",
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"nothing else":              {"internal/run/a.go", "", ""},
		"a runner of one's own":     {"internal/run/a.go", "import tool \"adze/tool\"\nfunc f() { var r tool.Runner; r.Exec(1) }\n", "tool.Runner.Exec is used outside of the session"},
		"a runner in a field":       {"internal/run/a.go", "import tool \"adze/tool\"\ntype x struct{ deep struct{ r *tool.Runner } }\nfunc (v x) f() { v.deep.r.Exec(1) }\n", "tool.Runner.Exec is used outside of the session"},
		"the method as a value":     {"internal/run/a.go", "import tool \"adze/tool\"\nfunc f() any { return (*tool.Runner).Exec }\n", "tool.Runner.Exec is used outside of the session"},
		"another's Exec":            {"internal/run/a.go", "type db struct{}\nfunc (db) Exec(n int) {}\nfunc f() { db{}.Exec(1) }\n", ""},
		"the field of a tool":       {"internal/run/a.go", "import tool \"adze/tool\"\nfunc f(c tool.Config[string, int]) { c.Run(\"x\") }\n", "the code of a tool is reached around the gate"},
		"the method of a tool":      {"toolset/b.go", "func g() { look{}.run(\"x\") }\n", "toolset/b.go:3: .run is the code of a tool, and is called around the gate"},
		"the function of a tool":    {"toolset/b.go", "func g() { (helper)(\"x\") }\n", "is the code of a tool, and is called around the gate"},
		"what looks before it runs": {"toolset/b.go", "func g() { look{}.check(\"x\") }\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{c.file: c.text}
			for name, text := range center {
				files[name] = text
			}
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			broken(t, files, want...)
		})
	}
}
