package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/project/agents"
	"adze/internal/project/discovery"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// kinds finds the agents of written files: those below home are the user's, all others the
// project's.
func kinds(t *testing.T, files map[string]string) agents.Kinds {
	t.Helper()
	at := t.TempDir()
	for name, text := range files {
		file := filepath.Join(at, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"home/.config/adze", "repo"} {
		if err := os.MkdirAll(filepath.Join(at, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f := &discovery.Finder{AdzeDir: filepath.Join(at, "home/.config/adze"), Home: filepath.Join(at, "home"), Dir: filepath.Join(at, "repo")}
	t.Cleanup(f.Close)
	return agents.Find(t.Context(), f)
}

// tools are the definitions of all that is built in, and of one that a user declared.
func definitions(t *testing.T) []tool.Definition {
	t.Helper()
	registry, err := toolset.New(toolset.Deps{Inquire: func(context.Context, toolset.Inquiry) (string, error) { return "", nil }})
	if err != nil {
		t.Fatal(err)
	}
	own := (&rig{t: t}).written("issue", tool.Execute)
	if err := registry.Register(own); err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{Workspace: "/w", Directory: "/w", Cwd: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	return set.Definitions()
}

// has are the names of the tools that a kind has.
func has(k agents.Kind, all []tool.Definition) string {
	var names []string
	for _, d := range all {
		if k.HasTool(d) {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Each agent is found, with its origin; the user's names win.
func TestAgentsAreFound(t *testing.T) {
	ks := kinds(t, map[string]string{
		"home/.config/adze/agents/mine.md":      "---\ndescription: Mine.\n---\nYou are mine.\n",
		"home/.claude/agents/reviewer.md":       "---\nname: reviewer\ndescription: Of the person.\n---\nReview.\n",
		"repo/.claude/agents/reviewer.md":       "---\nname: reviewer\ndescription: Of the project.\n---\nReview.\n",
		"repo/.claude/agents/explore.md":        "---\nname: explore\ndescription: Takes over a name.\ntools: Bash\n---\nx\n",
		"repo/.agents/agent/docs.md":            "---\ndescription: Writes docs.\nmode: subagent\n---\nx\n",
		"repo/.agents/agents/lead.md":           "---\ndescription: Leads.\nmode: primary\n---\nx\n",
		"repo/.gemini/agents/g.md":              "---\nname: g\ndescription: Of Gemini.\nmax_turns: 3\n---\nx\n",
		"repo/.agents/agents/shared.md":         "---\ndescription: Shared.\n---\nx\n",
		"repo/.adze/agents/gone.md":             "---\ndescription: x\ndisable: true\n---\nx\n",
		"repo/.adze/agents/sub/deep.md":         "No front matter at all.\n",
		"repo/.claude/agents/big.md":            "---\ndescription: " + strings.Repeat("x", 1<<20) + "\n---\nx\n",
		"repo/.claude/agents/ignored/notes.txt": "x",
	})
	var got []string
	for _, k := range ks {
		line := fmt.Sprintf("%s %s", k.Label(), k.Origin)
		if k.Problem != "" {
			line += " !"
		}
		got = append(got, line)
	}
	slices.Sort(got)
	want := []string{"big project !", "docs project", "explore built-in", "general built-in", "gone project !", "lead project", "mine person",
		"project:explore project", "project:reviewer project", "reviewer person", "shared project", "sub:deep project"}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, description := range map[string]string{"reviewer": "Of the person.", "project:reviewer": "Of the project.", "explore": "reads and fetches, changes nothing; several run together"} {
		if k, err := ks.ForTask(name); err != nil || k.Description != description {
			t.Errorf("%s: %q, %v", name, k.Description, err)
		}
	}
	for name, part := range map[string]string{"reviwer": "did you mean reviewer", "gone": "not to be used", "big": "256", "lead": "only leads a conversation", "": "use one of"} {
		if _, err := ks.ForTask(name); err == nil || !strings.Contains(err.Error(), part) && name != "big" {
			t.Errorf("%q: %v, want %q", name, err, part)
		}
	}
	if k, _ := ks.Named("reviewer"); k.Path == "" {
		t.Error("no path")
	} else if text, err := k.Text(t.Context()); err != nil || text != "Review." {
		t.Errorf("the text is %q, %v", text, err)
	}
	index := ks.Index(agents.MaxIndex)
	for _, part := range []string{"- mine: Mine.", "- reviewer: Of the person.", "- docs: Writes docs."} {
		if !strings.Contains(index, part+"\n") {
			t.Errorf("the index has no %q:\n%s", part, index)
		}
	}
	for _, part := range []string{"lead", "Of the project", "Takes over", "big", "explore"} {
		if strings.Contains(index, part) {
			t.Errorf("the index has %q:\n%s", part, index)
		}
	}
}

// The index is bounded, and the same whatever order the files lie in.
func TestTheIndexOfAgentsIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("repo/.claude/agents/a%02d.md", i)] = "---\ndescription: |\n  " + strings.Repeat("long ", 100) + "\n  <note from=\"x\">\n---\nx\n"
	}
	ks := kinds(t, files)
	for _, room := range []int{agents.SmallIndex, agents.MaxIndex} {
		index := ks.Index(room)
		if len(index) > room || !strings.Contains(index, "- a00") || !strings.Contains(index, "a59") && !strings.Contains(index, "more agents\n") {
			t.Errorf("%d bytes of %d:\n%s", len(index), room, index)
		}
		slices.Reverse(ks)
		if again := ks.Index(room); again != index {
			t.Error("it depends on the order")
		}
	}
	if index := kinds(t, nil).Index(agents.MaxIndex); index != "" {
		t.Errorf("without any it is %q", index)
	}
}

// What a file says of tools, in the words of each assistant, and what is said of the rest.
func TestToolsInAllDialects(t *testing.T) {
	all := definitions(t)
	everything := has(agents.Kind{}, nil) // none
	for _, d := range all {
		if d.Name != "tool_search" {
			everything += d.Name + " "
		}
	}
	names := strings.Fields(everything)
	slices.Sort(names)
	everything = strings.Join(names, " ")
	for name, c := range map[string]struct{ front, want, says string }{
		"none named":   {"description: x", everything, ""},
		"Claude Code":  {"tools: Read, Grep, Glob, Bash(git add:*), WebFetch", "bash bash_kill bash_output glob grep list read webfetch", "Bash(git add:*): your rules decide about single calls"},
		"a list":       {"tools:\n  - Read\n  - Edit|Write", "read", "there are no tools Edit|Write"},
		"denied":       {"tools: Read, Write, Bash\ndisallowedTools: Write, Bash", "read", ""},
		"Gemini":       {"tools: [read_file, run_shell_command, replace]", "bash bash_kill bash_output edit read", ""},
		"a star":       {"tools: ['*']", everything, ""},
		"Copilot":      {"tools: ['search', 'web']", "glob grep webfetch", ""},
		"Codex":        {"tools: shell, apply_patch", "bash bash_kill bash_output edit write", ""},
		"declared":     {"tools: issue, Read", "issue read", ""},
		"unknown":      {"tools: Read, Teleport, mcp__github__create_issue", "read", "there are no tools Teleport, mcp__github__create_issue"},
		"nothing":      {"tools: Teleport", "", "there are no tools Teleport"},
		"notebooks":    {"tools: Read, NotebookEdit", "read", "there are no tools NotebookEdit"}, // no Edit or Write in claude-code 2.1.332
		"empty list":   {"tools: []", "", "it has no tools"},
		"never starts": {"hooks:\n  PreToolUse:\n    - command: ./x.sh\nmcpServers: [x]\ntools: Read", "read", "hooks of an agent's file are not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := kinds(t, map[string]string{"repo/.claude/agents/a.md": "---\nname: a\n" + c.front + "\n---\nx\n"}).Named("a")
			if err != nil {
				t.Fatal(err)
			}
			if got := has(k, all); got != c.want {
				t.Errorf("it has\n%s\nwant\n%s", got, c.want)
			}
			says := strings.Join(k.IgnoredSettings(func(name string) bool { return name == "issue" }), "; ")
			if c.says == "" && says != "" || !strings.Contains(says, c.says) {
				t.Errorf("said %q, want %q", says, c.says)
			}
		})
	}
}

// A map of tools, as opencode writes one, may deny more than is read of it: such an agent is not
// used.
func TestToolsInAMapAreNotGuessed(t *testing.T) {
	for _, front := range []string{"tools:\n  write: false", "tools: {\"*\": false, read: true}", "permission:\n  bash: deny", "permission: deny"} {
		_, err := kinds(t, map[string]string{"repo/.claude/agents/a.md": "---\nname: a\n" + front + "\n---\nx\n"}).Named("a")
		if err == nil || !strings.Contains(err.Error(), "as opencode writes them") {
			t.Errorf("%q: %v", front, err)
		}
	}
}

func TestWhatAFileSaysOfModeStepsAndEffort(t *testing.T) {
	for front, want := range map[string]string{
		"permissionMode: acceptEdits\nmaxTurns: 7\neffort: high":   "edits 7 high []",
		"permission_mode: yolo\nsteps: 3":                          "yolo 3  []",
		"permissionMode: bypassPermissions\nmax_turns: 2":          "yolo 2  []",
		"permissionMode: default":                                  "ask 0  []",
		"readonly: true":                                           "plan 0  []",
		"permissionMode: godmode":                                  `plan 0  [there is no permission mode "godmode"; it works in plan and changes nothing]`,
		"maxSteps: many\neffort: enormous":                         ` 0  [there is no effort "enormous" "many" is no number of steps]`,
		"steps: -1":                                                ` 0  ["-1" is no number of steps]`,
		"description: " + strings.Repeat("x", 2000) + "\nsteps: 4": " 4  [its description has 2000 bytes; 1024 are kept]",
	} {
		k, err := kinds(t, map[string]string{"repo/.claude/agents/a.md": "---\nname: a\n" + front + "\n---\nx\n"}).Named("a")
		if got := fmt.Sprintf("%s %d %s %v", k.Mode, k.Steps, k.Effort, k.Notes); err != nil || got != want {
			t.Errorf("%.60q: %s, want %s (%v)", front, got, want, err)
		}
	}
}

// A file only narrows: its tools, its mode and its steps are within those of who starts it; what it
// wanted beyond is said.
func TestAnAgentOfAFileIsNarrowed(t *testing.T) {
	r := newRig(t, 0, one("wide")+`-- wide: 1 --
expect prompt: Where is it
call bash: {"text":"a"}
call task: {"description":"all","prompt":"p","agent":"general"}
call read: {"text":"a"}
-- wide: 2 --
expect bash invalid: use one of: read$
expect task invalid: use one of: read$
text: narrow
`)
	r.config.Kinds = kinds(t, map[string]string{"repo/.claude/agents/wide.md": "---\nname: wide\ntools: Read, Task, Teleport\npermissionMode: yolo\nmaxTurns: 6\nmodel: none/such\n---\nYou are wide.\n"})
	order := []string{"plan", "ask", "edits", "auto", "yolo"}
	r.config.Narrower = func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return order[min(slices.Index(order, a), slices.Index(order, b))]
	}
	r.config.Session.Start.Model = "script/m"
	r.config.InForce = func() string { return "edits" }
	r.config.System = func(k agents.Kind, text string) string { return "system of " + k.Name + ": " + text }
	r.config.Model = func(k agents.Kind) (agents.Model, error) {
		return agents.Model{}, fmt.Errorf("there is no provider %q", "none")
	}
	var modes []string
	r.config.Session.Gate = tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		modes = append(modes, q.Agent+" "+q.Mode)
		return tool.Decision{Allow: true, Layer: "test"}, nil
	})
	r.wants("cause", r.prompt(t.Context()).Cause, session.CauseDone)
	r.contains("outcomes", r.outcomes("parent"), "narrow")
	r.wants("system", r.start(r.subagents()[0].Session).System, "system of wide: You are wide.")
	if !slices.Equal(modes, []string{"wide: find it yolo"}) {
		t.Errorf("asked in the modes %q", modes)
	}
	var said []string
	for _, e := range r.events {
		if n, ok := e.(session.Notice); ok {
			said = append(said, n.Text)
		}
	}
	r.contains("said", said, "the agent wide (.claude/agents/wide.md): there are no tools Teleport; it works with script/m, because its model \"none/such\" cannot be used: there is no provider \"none\"; its file wants the permission mode yolo; it works in edits")
}

// A task of an agent of a file goes on as that; where the file is gone it does not go on as another
// one.
func TestATaskOfAFilesAgentGoesOn(t *testing.T) {
	r := newRig(t, 0, "-- 1 --\n-- mine: 1 --\ntext: first\n-- mine: 2 --\ntext: second\n")
	files := map[string]string{"repo/.claude/agents/mine.md": "---\nname: mine\ntools: Read\n---\nx\n"}
	r.config.Kinds = kinds(t, files)
	first, err := r.request(toolset.TaskRequest{Agent: "mine", Description: "look: here"})
	if err != nil || first.Agent != "mine" {
		t.Fatalf("%+v, %v", first, err)
	}
	if second, err := r.request(toolset.TaskRequest{ID: first.ID}); err != nil || second.Text != "second" || second.Agent != "mine" {
		t.Errorf("%+v, %v", second, err)
	}
	again := agents.New(0, func() (agents.Config, error) {
		c := r.config
		c.Kinds = kinds(t, nil)
		return c, nil
	})
	if _, err := again.Run(t.Context(), toolset.TaskRequest{ID: first.ID, Parent: "parent", Prompt: "p", Call: "c9"}, func(toolset.TaskProgress) {}); tool.CodeOf(err) != tool.CodeInvalidArguments {
		t.Errorf("without its file: %v", err)
	}
}
