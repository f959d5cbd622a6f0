package run

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/sandbox/proc"
	"adze/tool"
	"adze/toolset"
)

// declaredTouch is a tool that a user declares in a file.
const declaredTouch = `{"name": "touch_it", "description": "Touch a file.", "command": ["touch", "{path}"],
  "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false},
  "permissions": ["write made-by-a-declared-tool", "network https://tracker.example"]}`

// wholeCatalogue is every tool that can be offered: the built-in ones, one declared in a file, and
// one that says nothing of what it touches, as a server's tools may.
func wholeCatalogue(t *testing.T, root *workspace.Root, ran *bool) *tool.Set {
	t.Helper()
	tools := t.TempDir()
	if err := os.WriteFile(filepath.Join(tools, "touch_it.json"), []byte(declaredTouch), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := toolset.NewShell(proc.Supervisor{}, []string{"PATH=" + os.Getenv("PATH")})
	t.Cleanup(shell.Close)
	declared := &toolset.Declared{Dir: tools}
	registry, err := toolset.New(toolset.Deps{Root: root, Shell: shell, Declared: declared})
	if err != nil || len(declared.Names) != 1 {
		t.Fatal(err, declared.Mistakes)
	}
	silent := tool.DefineFunc("server_tool", func(context.Context, tool.Init) (tool.Config[struct{}, struct{}], error) {
		return tool.Config[struct{}, struct{}]{
			Description: "does as it likes", Redact: tool.Expose(),
			Permissions: tool.Requires(tool.Read, tool.Write, tool.Execute, tool.Network),
			Run: func(context.Context, tool.Context[struct{}], struct{}) (res tool.Result[struct{}], err error) {
				*ran = true
				return res, nil
			},
		}, nil
	})
	if err := registry.Register(silent); err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{Workspace: root.Dir(), Directory: root.Dir(), Cwd: root.Dir()})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// validCall gives every required argument of a tool a value.
func validCall(t *testing.T, d tool.Definition) string {
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
	args := map[string]any{}
	for _, name := range schema.Required {
		switch p := schema.Properties[name]; {
		case len(p.Enum) > 0:
			args[name] = p.Enum[0]
		case p.Type == "array":
			args[name] = []any{}
		default:
			args[name] = "there"
		}
	}
	switch d.Name {
	case "webfetch":
		args["url"] = "https://nowhere.invalid/"
	case "bash":
		args["command"] = "touch made-by-bash"
	case "edit":
		args["old_string"], args["new_string"] = "a", "b"
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// No tool of any catalogue runs unasked by what it leaves unsaid: each permission that it requires
// reaches the gate as a need, in every mode and at every agent depth, and the plan mode refuses
// whatever requires to change something.
func TestNoToolOfAnyCatalogueRunsUnasked(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ran := false
	set := wholeCatalogue(t, root, &ran)
	for _, mode := range []policy.Mode{policy.Plan, policy.AskFirst, policy.Edits, policy.Auto} {
		rules, err := policyconfig.New(config.Config{}, policyconfig.Flags{Mode: string(mode)}, policyconfig.RunPaths{Root: root}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, agent := range []string{"", "general: a task"} {
			r := &tool.Runner{Gate: rules, Agent: agent}
			for _, d := range set.Definitions() {
				h := r.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c1", Name: d.Name, Arguments: validCall(t, d)}})[0]
				if !h.OK {
					t.Fatalf("%s: this test needs a call of it that is valid: %v", d.Name, h.Errors)
				}
				if mode != policy.Plan && slices.Contains(d.Permissions.Required, tool.Write) && d.Name != "server_tool" {
					continue // what these may do is shown elsewhere
				}
				o := r.Exec(t.Context(), h)
				checkUnasked(t, mode, d, o)
			}
		}
	}
	if ran {
		t.Error("the tool that names nothing ran without anybody to ask")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("the workspace holds %v, %v", left, err)
	}
}

func checkUnasked(t *testing.T, mode policy.Mode, d tool.Definition, o tool.Outcome) {
	t.Helper()
	for _, p := range d.Permissions.Required {
		if !slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == p }) {
			t.Errorf("%s requires %s, and the gate was not asked for it: %+v", d.Name, p, o.Record.Needs)
		}
		changes := p == tool.Write || p == tool.Execute
		if mode == policy.Plan && changes && o.Status != tool.Denied {
			t.Errorf("%s requires %s and is %s in the plan mode: %s", d.Name, p, o.Status, o.Output)
		}
		if (p == tool.Execute || p == tool.Network) && o.Status != tool.Denied {
			t.Errorf("%s requires %s and is %s in the mode %s with nobody to ask: %s", d.Name, p, o.Status, mode, o.Output)
		}
	}
	if strings.Contains(o.Output, "inside") {
		t.Errorf("%s: %s", d.Name, o.Output)
	}
}
