package toolset_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/sandbox/proc"
	"adze/tool"
	"adze/toolset"
)

// marked is a call in which every string argument says its own name; some tools want more of
// theirs.
func marked(t *testing.T, d tool.Definition) (string, []string) {
	t.Helper()
	var schema struct {
		Required   []string
		Properties map[string]struct {
			Type string
			Enum []string
		}
	}
	if err := json.Unmarshal(d.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	args, marks := map[string]any{}, []string{}
	for name, p := range schema.Properties {
		if p.Type == "string" && len(p.Enum) == 0 {
			args[name] = "mark-" + name
			marks = append(marks, "mark-"+name)
		}
	}
	switch d.Name {
	case "webfetch":
		args["url"] = "https://mark-url.example/"
	case "todowrite":
		args["todos"] = []any{}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), marks
}

// Needs are logged whole. So that they tell nothing that Redact keeps back, a built-in tool exposes
// every argument that its needs quote.
func TestNeedsQuoteOnlyWhatIsExposed(t *testing.T) {
	root, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	shell := toolset.NewShell(proc.Supervisor{}, []string{"PATH=" + os.Getenv("PATH")})
	defer shell.Close()
	registry, err := toolset.New(toolset.Deps{Root: root, Shell: shell})
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{Workspace: root.Dir(), Directory: root.Dir(), Cwd: root.Dir()})
	if err != nil {
		t.Fatal(err)
	}
	quoted := 0
	r := &tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Reason: "no"}, nil })}
	for _, d := range set.Definitions() {
		args, marks := marked(t, d)
		h := r.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c1", Name: d.Name, Arguments: args}})[0]
		if !h.OK {
			t.Errorf("%s: this test needs a call of it that is valid: %v", d.Name, h.Errors)
			continue
		}
		record := r.Exec(t.Context(), h).Record
		for _, n := range record.Needs {
			for _, mark := range marks {
				if !strings.Contains(n.Target+" "+n.Dir, mark) {
					continue
				}
				quoted++
				if !strings.Contains(string(record.Args), mark) {
					t.Errorf("%s: the need %+v quotes an argument that Redact keeps back; the record shows %s", d.Name, n, record.Args)
				}
			}
		}
	}
	if quoted < 8 { // read write edit glob grep list bash webfetch
		t.Errorf("only %d needs quote an argument; this test does not see them", quoted)
	}
}
