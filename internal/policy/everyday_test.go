package policy

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"adze/tool"
)

// tree is a workspace at /w: the names that lie in it.
type tree struct{ fstest.MapFS }

func newTree(names ...string) tree {
	t := tree{fstest.MapFS{}}
	for _, name := range names {
		t.MapFS[strings.TrimPrefix(name, "/")] = &fstest.MapFile{}
	}
	return t
}

func (t tree) Names(abs string) (names []string, err error) {
	entries, err := fs.ReadDir(t.MapFS, at(abs))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (t tree) Walk(abs string, visit fs.WalkDirFunc) error {
	return fs.WalkDir(t.MapFS, at(abs), func(name string, d fs.DirEntry, err error) error { return visit("/"+name, d, err) })
}

func at(abs string) string {
	if name := strings.TrimPrefix(path.Clean(abs), "/"); name != "" {
		return name
	}
	return "."
}

func project() tree {
	return newTree("/w/main.go", "/w/util.go", "/w/README.md", "/w/CHANGELOG.md", "/w/.env", "/w/.env.example", "/w/go.mod", "/w/package.json", "/w/names.txt",
		"/w/src/index.ts", "/w/src/app.ts", "/w/src/app.test.ts", "/w/internal/run/app.go", "/w/internal/policy/policy.go", "/w/docs/a.md", "/w/build.log", "/w/server.log")
}

var update = flag.Bool("update", false, "write the verdicts as they are")

const everyday = "testdata/everyday/commands.txt"

// signs are the verdicts in modes ask, edits, plan and yolo without a rule, then in ask and edits
// with a rule for each program: + runs, ? is asked for, - is refused.
func signs(t *testing.T, command string) (out string, asked, askedWithRule bool) {
	t.Helper()
	sign := map[Effect]string{Allow: "+", Ask: "?", Deny: "-"}
	judge := func(mode Mode, rules ...string) Effect {
		p := newPolicy(t, mode, nil, rules...)
		p.options.Files = project()
		return p.judge(mode, tool.Need{Permission: tool.Execute, Target: command}).effect
	}
	for _, mode := range []Mode{AskFirst, Edits, Plan, Yolo} {
		out += sign[judge(mode)]
	}
	out += " "
	for _, mode := range []Mode{AskFirst, Edits} {
		out += sign[judge(mode, rulesFor(t, command)...)]
	}
	return out, out[1] != '+', out[6] != '+'
}

// rulesFor are rules for the programs of a command: each with any words behind it.
func rulesFor(t *testing.T, command string) (rules []string) {
	t.Helper()
	c := read(command, "")
	if c.refused != nil {
		t.Fatal(c.refused)
	}
	for _, s := range c.simples {
		if s.maybe || !s.words[0].Known || s.inner && !strings.Contains(command, "$(") {
			continue
		}
		if rule := fmt.Sprintf("allow execute(%s **)", quoteWord(s.name())); s.name() != "" && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// TestEverydayCommands holds what is asked of a user whose assistant runs the commands of a usual
// day: at most 40 in a hundred where no rule was made, and 41 in the mode ask, which asks for every
// write; 3 where one was made for each program, in the mode edits.
func TestEverydayCommands(t *testing.T) {
	data, err := os.ReadFile(everyday)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	all, asked, withRule, first := 0, 0, 0, 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") || line == "" {
			out.WriteString(line + "\n")
			continue
		}
		want, text, _ := strings.Cut(line, "\t")
		got, a, b := signs(t, strings.ReplaceAll(text, `\n`, "\n"))
		if got != want && !*update {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
		fmt.Fprintf(&out, "%s\t%s\n", got, text)
		all++
		if got[0] != '+' {
			first++
		}
		if a {
			asked++
		}
		if b {
			withRule++
		}
	}
	if *update {
		if err := os.WriteFile(everyday, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d commands: %d asked without a rule (%d in the mode ask), %d with one for each program", all, asked, first, withRule)
	if all < 200 || asked*100 > all*40 || first*100 > all*41 || withRule*100 > all*3 {
		t.Errorf("of %d commands %d are asked without a rule and %d with one", all, asked, withRule)
	}
}
