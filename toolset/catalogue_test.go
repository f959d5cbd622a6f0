package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/editors/lsp"
	"adze/internal/sandbox/proc"
	"adze/tool"
)

// Every tool is shown by at least eight cases, each named after a behaviour.
func TestEveryToolHasItsCases(t *testing.T) {
	h := newDeskOfAll(t)
	for _, name := range h.set.Names() {
		cases, err := filepath.Glob(filepath.Join("..", "testdata", "tool", name, "*.txtar"))
		if err != nil || len(cases) < 8 {
			t.Errorf("%s has %d cases, want 8: %v", name, len(cases), err)
		}
		for _, path := range cases {
			raw, err := os.ReadFile(path)
			if err != nil || !bytes.HasPrefix(raw, []byte("# ")) || !bytes.Contains(raw, []byte("\n-- want.")) {
				t.Errorf("%s does not open with a sentence, or wants nothing: %v", path, err)
			}
		}
	}
}

// TestBuiltInToolsAreDeclaredSoundly does what a start leaves out: it gives each declaration to the
// check for all.
func TestBuiltInToolsAreDeclaredSoundly(t *testing.T) {
	for name, d := range map[string]Deps{"full": {}, "brief": {Brief: true}, "code": {Code: &lsp.Servers{}}} {
		d.Shell = NewShell(proc.Supervisor{}, nil)
		var sound tool.Registry
		for _, x := range d.builtIn() {
			if err := sound.Register(x); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// newDeskOfAll is the whole catalogue over an empty workspace.
func newDeskOfAll(t testing.TB) *bench {
	t.Helper()
	return newBench(t, t.TempDir())
}

// The names that models use instead.
func toolNames() map[string][]string {
	return map[string][]string{
		"read": {"read_file", "view", "cat"}, "write": {"write_file", "create_file"}, "edit": {"edit_file", "str_replace", "replace"},
		"bash": {"run_command", "shell", "execute"}, "list": {"list_files", "ls", "list_directory"},
		"grep": {"search_text", "search", "grep_search"}, "glob": {"find_files", "find"}, "webfetch": {"download_url", "fetch"},
	}
}

func argumentNames() map[string][]string {
	return map[string][]string{
		"path": {"file_path", "filePath", "filename"}, "old_string": {"oldText", "old_str", "oldString"}, "command": {"cmd"},
	}
}

// Other names for tools are understood and recorded, and never offered.
func TestOtherNamesOfTools(t *testing.T) {
	b := newDeskOfAll(t)
	for name, aliases := range toolNames() {
		for _, alias := range aliases {
			h := b.hydrate(t, alias, encoded(t, harmless()[name]))
			if !h.OK || h.Tool != name || h.Provenance.Alias != alias || h.Provenance.Origin != tool.Alias {
				t.Errorf("%s is taken as %q (ok %v), alias %q, origin %q: %v", alias, h.Tool, h.OK, h.Provenance.Alias, h.Provenance.Origin, h.Errors)
			}
			if slices.Contains(b.set.Names(), alias) {
				t.Errorf("%s is offered", alias)
			}
		}
	}
	for _, d := range b.set.Definitions() {
		for _, alias := range d.Aliases {
			if real := b.hydrate(t, alias, "{}").Tool; real != d.Name {
				t.Errorf("%s is an alias of %s, but leads to %s", alias, d.Name, real)
			}
		}
	}
}

// So are other names for arguments, and no fault, also inside a list of edits.
func TestOtherNamesOfArguments(t *testing.T) {
	b := newDeskOfAll(t)
	tried := 0
	for _, d := range b.set.Definitions() {
		for name, p := range schemaOf(t, d).Properties {
			for _, alias := range argumentNames()[name] {
				tried++
				base := harmless()[d.Name]
				in := map[string]any{alias: base[name]}
				for k, v := range base {
					if k != name {
						in[k] = v
					}
				}
				if in[alias] == nil {
					in[alias] = "x"
				}
				b.understood(t, d.Name, encoded(t, in), fmt.Sprintf("%q", name))
				if _, offered := schemaOf(t, d).Properties[alias]; offered || p.Type == "" {
					t.Errorf("%s offers %s", d.Name, alias)
				}
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d names were tried", tried)
	}
	b.understood(t, "edit", `{"file_path":"f","edits":[{"oldText":"a","newText":"b"},{"old_str":"c","new_str":"d"}]}`, `"old_string":"a"`)
}

func (b *bench) hydrate(t *testing.T, name, arguments string) tool.Hydration {
	t.Helper()
	return b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{{ID: "c", Name: name, Arguments: arguments}})[0]
}

// understood checks that a call in other words is read, that the record says so, and that the
// result holds a text.
func (b *bench) understood(t *testing.T, name, arguments, holds string) {
	t.Helper()
	h := b.hydrate(t, name, arguments)
	r := h.Provenance.Dialect
	if !h.OK || r == nil || !strings.Contains(r.Kind, "alias") && !strings.Contains(r.Kind, "name") || r.Before != arguments || !strings.Contains(string(r.After), holds) {
		t.Errorf("%s %s: ok %v, dialect %+v, %v", name, arguments, h.OK, r, h.Errors)
		return
	}
	if h.Provenance.Origin != tool.Alias || h.Provenance.Repair != nil {
		t.Errorf("%s %s: origin %q", name, arguments, h.Provenance.Origin)
	}
}

// tokens estimates what a text costs a model: English prose has about 4.6 bytes a token.
func tokens(s string) int { return len(s) * 10 / 46 }

// What a tool says about itself is short: 10 to 40 tokens for a simple tool, under 120 for one with
// rules of its own, in a file of at most 40 lines; every argument is described.
func TestDescriptionsAreShort(t *testing.T) {
	ruled := []string{"bash", "edit", "webfetch", "todowrite"}
	for _, d := range newDeskOfAll(t).set.Definitions() {
		most := 40
		if slices.Contains(ruled, d.Name) {
			most = 119
		}
		if n := tokens(d.Description); n < 7 || n > most {
			t.Errorf("%s: the description has about %d tokens, want at most %d: %s", d.Name, n, most, d.Description)
		}
		raw, err := descriptions.ReadFile(d.Name + ".md")
		if err != nil || bytes.Count(raw, []byte("\n")) > 40 {
			t.Errorf("%s.md: %d lines, %v", d.Name, bytes.Count(raw, []byte("\n")), err)
		}
		if bytes.Contains(d.Parameters, []byte("\n")) || len(d.Parameters) > 2200 {
			t.Errorf("%s: the schema has %d bytes: %s", d.Name, len(d.Parameters), d.Parameters)
		}
		described(t, d.Name, schemaOf(t, d))
	}
}

func described(t *testing.T, place string, o object) {
	t.Helper()
	if o.Additional == nil || *o.Additional {
		t.Errorf("%s takes unknown properties", place)
	}
	for name, p := range o.Properties {
		if n := tokens(p.Description); n < 1 || n > 40 {
			t.Errorf("%s/%s: described by about %d tokens: %q", place, name, n, p.Description)
		}
		if p.Items != nil && p.Items.Properties != nil {
			described(t, place+"/"+name, p.Items.object)
		}
	}
}

// Every tool has a View of its own: what a completed call leaves can be drawn by a pane that has
// never heard of the tool, in the kind that fits.
func TestEveryToolCanBeDrawn(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.txt"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"site/docs.example/a.html", ".agents/explore.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("<title>T</title><p>Some text that is the content.</p>"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, dir)
	drawn := map[string]bool{}
	for _, c := range drawnCalls() {
		drawn[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			o := b.play(t, c.name, c.arguments).outcome
			if o.Status != tool.Completed {
				t.Fatalf("%s: %s", o.Status, o.Output)
			}
			blocks := b.set.Blocks(o.Tool, o.Metadata)
			if !slices.ContainsFunc(blocks, func(x tool.Block) bool {
				return x.Kind == c.kind && (x.Text != "" || len(x.Items) > 0) && (x.Kind != tool.CodeBlock || x.Line > 0)
			}) {
				t.Errorf("no %s to draw in %+v", c.kind, blocks)
			}
		})
	}
	for _, name := range b.set.Names() {
		if !drawn[name] && !strings.HasPrefix(name, "git_") && name != "tool_search" { // those have cases that say what is drawn
			t.Errorf("%s is not tried", name)
		}
	}
}

type drawnCall struct {
	name, arguments string
	kind            tool.BlockKind
}

func drawnCalls() []drawnCall {
	return []drawnCall{
		{"read", `{"path":"f.txt"}`, tool.CodeBlock},
		{"write", `{"path":"new.txt","content":"x\n"}`, tool.DiffBlock},
		{"edit", `{"path":"f.txt","old_string":"two","new_string":"2"}`, tool.DiffBlock},
		{"glob", `{"pattern":"*.txt"}`, tool.ListBlock},
		{"grep", `{"pattern":"one"}`, tool.ListBlock},
		{"list", `{}`, tool.ListBlock},
		{"bash", `{"command":"echo hello"}`, tool.OutputBlock},
		{"bash", `{"command":"sleep 1000","background":true}`, tool.OutputBlock},
		{"bash_output", `{"job":"job1"}`, tool.OutputBlock},
		{"bash_kill", `{"job":"job1"}`, tool.OutputBlock},
		{"list_processes", `{}`, tool.ListBlock},
		{"todowrite", `{"todos":[{"content":"a","status":"pending"}]}`, tool.ChecklistBlock},
		{"todoread", `{}`, tool.ChecklistBlock},
		{"webfetch", `{"url":"http://docs.example/a.html"}`, tool.TextBlock},
		{"task", `{"description":"d","prompt":"p"}`, tool.TextBlock},
		{"task_complete", `{"summary":"s"}`, tool.TextBlock},
	}
}

// A brief catalogue offers a part of the arguments, takes all of them, and costs half of what it
// takes.
func TestBriefToolsTakeWhatTheyDoNotOffer(t *testing.T) {
	dir := t.TempDir()
	deps := caseDeps(t, dir)
	deps.Brief = true
	registry, err := New(deps)
	if err != nil {
		t.Fatal(err)
	}
	whole, b := newBench(t, dir), newBench(t, dir)
	if b.set, err = registry.Tools(t.Context(), tool.Init{Workspace: dir, Directory: dir, Cwd: dir}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"read", "write", "edit", "glob", "grep", "list", "bash"} {
		d, _ := b.set.Get(name)
		full, _ := whole.set.Get(name)
		shown, is := len(full.Description)+len(full.Offered()), len(d.Description)+len(d.Offered())
		if was := len(full.Description) + len(full.Parameters); is > was*3/4 || is >= shown {
			t.Errorf("%s: %d bytes, %d shown, brief %d", name, was, shown, is)
		}
		if string(d.Parameters) != string(full.Parameters) {
			t.Errorf("%s validates otherwise", name)
		}
		var offered object
		if err := json.Unmarshal(d.Offered(), &offered); err != nil {
			t.Fatalf("%s: %v in %s", name, err, d.Offered())
		}
		for argument, p := range offered.Properties {
			if real := schemaOf(t, full).Properties[argument]; p.Type == "" || p.Type != real.Type || tokens(p.Description) > 10 {
				t.Errorf("%s offers %s as %+v", name, argument, p)
			}
		}
		for _, need := range schemaOf(t, full).Required {
			if offered.Properties[need].Type == "" {
				t.Errorf("%s does not offer %s", name, need)
			}
		}
	}
	for name, arguments := range map[string]string{"grep": `{"pattern":"x","type":"go","per_file":3}`, "bash": `{"command":"sleep 1000","background":true}`} {
		if o := b.play(t, name, arguments).outcome; o.Status != tool.Completed {
			t.Errorf("%s: %s", name, o.Output)
		}
	}
}
