package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/tui/firstrun"
	"adze/tui/pane"
	"adze/tui/permission"
)

// ports are written fakes that say what was asked of them.
func (p *player) ports() api.Ports {
	return api.Ports{
		Late: func() bool { return p.late }, Wake: func(context.Context) session.Result { return session.Result{} },
		Efforts:   []api.Mode{{Name: "default", Means: "as its provider is configured"}, {Name: "low"}, {Name: "high"}},
		SetEffort: func(word string) string { return strings.TrimPrefix(word, "default") },
		Switch:    true,
		Plan:      func(context.Context) (string, error) { return "", nil },
		Net:       func(context.Context, api.Baseline) (api.Net, error) { return netOf("a.go"), nil },
		Revert:    func(context.Context, api.NetHunk) session.Result { return session.Result{Cause: session.CauseDone} },
		Stage:     func(context.Context, api.NetHunk) session.Result { return session.Result{Cause: session.CauseDone} },
		Draft:     func(context.Context) (string, error) { return "Add b", nil },
		Commit:    func(context.Context, string) session.Result { return session.Result{Cause: session.CauseDone} },
		MergePlan: func(context.Context) (api.Merge, error) { return api.Merge{Summary: "nothing to merge"}, nil },
		Open:      func(string, int) error { return nil },
		Sessions: func(context.Context) ([]api.SessionHead, error) {
			return []api.SessionHead{
				{ID: "s1", Title: "fix the parser", Model: "script/demo", Cwd: "/home/ann/calc", Updated: p.clock},
				{ID: "s0", Title: "write the\u202e parser's tests", Model: "openai/gpt-5.4", Cwd: "/home/ann/calc", Updated: p.clock.Add(-2 * time.Hour)},
				{ID: "r7", Title: "rename everything", Model: "ollama/qwen3", Cwd: "/home/ann/other", Worktree: "fix-1", Updated: p.clock.AddDate(0, 0, -3)},
				{ID: "b2", Title: "begin", Model: "ollama/qwen3", Cwd: "/home/ann/calc", Updated: p.clock.AddDate(0, 0, -40).UTC()},
			}, nil
		},
		Search: func(_ context.Context, text string) ([]api.SearchResult, string, error) {
			p.note("searched " + text)
			if text != "overflow" {
				return nil, "", nil
			}
			return []api.SearchResult{
				{Session: "s1", Place: api.Place{Message: "m2"}, Title: "fix the parser", Kind: "answer", Snippet: "… the sum overflows at 2^31, so …", Cwd: "/home/ann/calc", Time: p.clock},
				{Session: "r7", Place: api.Place{Message: "m9", Call: "c4"}, Title: "rename everything", Kind: "bash", Snippet: "stack \u202eoverflow in parse.go:12", Cwd: "/home/ann/other", Time: p.clock.AddDate(0, 0, -3)},
			}, "and more", nil
		},
		Peek: func(_ context.Context, id string) (api.SessionPeek, error) {
			p.note("looked into " + id)
			cost := 0.1234
			return api.SessionPeek{Turns: 3, Messages: 14, Cost: &cost, Asked: "and the \u202e last question?", Answered: "This is what was answered last.\n\nIn two parts."}, nil
		},
		Models: func(context.Context) ([]api.ModelRow, error) { return testModels(), nil },
		Modes:  []api.Mode{{Name: "plan", Means: "nothing is changed"}, {Name: "ask", Means: "what changes something is asked"}, {Name: "edits", Means: "files are changed without asking"}},
		SetMode: func(name string) error {
			if name != "plan" && name != "ask" && name != "edits" {
				return errors.New("there is no permission mode " + name)
			}
			p.note("mode: " + name)
			return nil
		},
		ProjectPrograms: func(context.Context) ([]api.ProjectProgram, error) {
			return []api.ProjectProgram{
				{ID: "hook:claude/PreToolUse/1", State: "waiting", Command: ".claude/check.sh", Hash: "34cd", Lines: []string{"command  .claude/check.sh",
					"when     PreToolUse Bash|Edit", "here     before_tool of bash, edit, at most 5s", "file     .claude/check.sh sha256 99bb"}},
				{ID: "hook:claude/SessionEnd/1", State: "unused", Command: "notify-send done", BlockedReason: "this version of adze does not run it: adze has no event like SessionEnd"},
				{ID: "tool:deploy", State: "allowed", Command: "./deploy.sh", Lines: []string{"command ./deploy.sh", "sha256 00ff"}, Hash: "00ff", Allowed: true},
				{ID: "tool:lint", State: "changed", Command: "./lint.sh --only\u202e {path}", Lines: []string{"command ./lint.sh --only\u202e {path}", "folder .", "file .adze/tools/lint.sh sha256 77aa", "sha256 12ab"}, Hash: "12ab"},
			}, nil
		},
		Consent: func(_ context.Context, i api.ProjectProgram, allow bool) error {
			p.note(fmt.Sprintf("consent: %s %s %v", i.ID, i.Hash, allow))
			return nil
		},
		CancelCall: func(id tool.CallID) bool {
			p.note("cancel: " + string(id))
			return true
		},
		Jobs:      func() []api.Job { return p.jobs },
		JobOutput: func(_ context.Context, id string) (string, error) { return "listening on :8080\nGET /\n", nil },
		EndJob:    func(id string) error { p.note("end: " + id); return nil },
		Servers: func(context.Context) ([]api.Server, error) {
			return []api.Server{
				{Name: "acme", Transport: "http https://acme.example/mcp", From: "config.json", State: "failed", Reason: "acme wants a login: run adze mcp login acme", Login: true},
				{Name: "files", Transport: "stdio npx -y server", From: ".mcp.json", State: "held", Reason: "it is not allowed: adze permission trust"},
				{Name: "memory", Transport: "stdio mcp-server-memory", From: "config.json", State: "ready", Title: "memory-server 0.6\u202e", Version: "2025-11-25", Tools: []string{"create_entities", "read_graph"},
					Resources: 2, Prompts: 1, Bytes: 2345, Last: "Knowledge Graph MCP Server running on stdio\n\x1b[31mwarn: no file"},
				{Name: "notes", Transport: "stdio notes", State: "off", Tools: []string{"add"}, Bytes: 200},
			}, nil
		},
		Serve: func(_ context.Context, name, act string) (string, error) {
			p.note(act + " " + name)
			return name + " was started: 2 tools", nil
		},
		Files: func(context.Context, func(api.Files)) (api.Files, error) {
			return api.Files{Paths: []string{"calc.go", "calc_test.go", "docs/a note.md", "internal/parse/parse.go", "internal/parse/parse_test.go", "README.md", "docs/", "internal/", "internal/parse/"}, Recent: []string{"internal/parse/parse_test.go"}}, nil
		},
		Folder: func(_ context.Context, dir string) (string, []string, error) {
			p.note("listed " + dir)
			switch dir {
			case "~/":
				return "/home/ann/", []string{".bashrc", "calc/", "notes.txt", "other/"}, nil
			case "../":
				return "../", []string{"calc/", "other/", "with space.txt"}, nil
			}
			return "", nil, errors.New("open " + dir + ": no such folder")
		},
		Run:           func(context.Context, string) session.Result { return session.Result{} }, // the player's start notes it
		Compact:       func(context.Context, string) session.Result { return session.Result{} },
		Steer:         func(text string) bool { p.note("steer: " + text); return true },
		Rewind:        func(context.Context) (string, error) { p.note("rewind"); return "the message as it was sent", nil },
		Picture:       func(context.Context) (string, error) { return "/home/ann/clipboard.png", nil },
		PromptHistory: func() []string { return []string{"an older message"} },
		Remember:      func(text string) { p.note("remember: " + text) },
		Drop: func(text string) (api.Dropped, bool) {
			switch text {
			case "/home/ann/shot.png":
				return api.Dropped{Path: text, Attach: text}, true
			case "'/home/ann/calc/a file.go'":
				return api.Dropped{Path: "a file.go"}, true
			}
			return api.Dropped{}, false
		},
	}
}

func (p *player) section(name string) (string, bool) {
	if p.c == nil {
		return "", false
	}
	return p.c.Section(name)
}

// netOf is a file with a line in the place of another.
func netOf(path string) api.Net {
	diff := "@@ -1 +1 @@\n-" + path + "\n+new " + path + "\n"
	return api.Net{Baseline: "its first call", Files: []api.NetFile{{Path: path, Note: path, Diff: diff, Hunks: []api.HunkText{{Text: diff, Line: 1}}}}}
}

// putBack says what it was asked, and that this came of it.
func (p *player) putBack(u api.UndoResult) func(context.Context, api.Undo) (api.UndoResult, error) {
	return func(_ context.Context, w api.Undo) (api.UndoResult, error) {
		if !w.Dry {
			p.note(fmt.Sprintf("put back: %+v", w))
		}
		return u, nil
	}
}

// testModels are models of every kind.
func testModels() []api.ModelRow {
	in, out, free := 3.0, 15.0, 0.0
	return []api.ModelRow{
		{Name: "script/demo"},
		{Name: "anthropic/claude-sonnet-4-6", Context: 200_000, Input: &in, Output: &out, Vision: true, Tools: true},
		{Name: "gemini/gemini-flash-latest", Context: 1_048_576, Input: &free, Output: &free, Vision: true, Tools: true},
		{Name: "ollama/qwen3", Context: 32_768, Tools: true, Note: "5.2 GB loaded"},
		{Name: "ollama/poet", Why: "it cannot call tools"},
		{Name: "groq/…", Why: "set GROQ_API_KEY"},
	}
}

// first opens the interface for who has no model. What is known at once and what a look finds are
// sections of the case, as JSON; every further look finds the next one.
func (p *player) first(rest string) {
	section := func(name string) firstrun.Setup {
		text, ok := p.c.Section(name)
		if !ok {
			p.t.Fatalf("no section %s", name)
		}
		return decode[firstrun.Setup](p.t, text)
	}
	names := strings.Fields(rest)
	looks := names[1:]
	*p.m.info = Info{Version: "0.1.0"}
	*p.m.status = *pane.NewStatus(p.m.draw.Theme, pane.Facts{})
	*p.m.ports = p.ports()
	keep := func(_ context.Context, provider, key string) (string, error) {
		p.note(fmt.Sprintf("a key of %d letters for %s", len(key), provider))
		if strings.HasPrefix(key, "bad") {
			return "", errors.New(provider + " does not take this key")
		}
		return "the key ring of your desktop", nil
	}
	keepAddress := func(_ context.Context, address string) (string, error) {
		p.note("the address " + address)
		return "/home/ann/.config/adze/config.json", nil
	}
	p.m.first.screen = firstrun.New(&firstrun.Offer{Version: "0.1.0", Keys: []firstrun.KeyOf{{Provider: "anthropic", Page: "https://console.example/keys"}, {Provider: "openai"}}, Keep: keep, KeepAddress: keepAddress, Problem: "no model is configured", Initial: section(names[0]), Look: func(context.Context) (firstrun.Setup, error) {
		p.note("looked")
		if len(looks) == 0 {
			return firstrun.Setup{}, errors.New("the configuration cannot be read")
		}
		found := section(looks[0])
		looks = looks[1:]
		return found, nil
	}}, p.m.draw.Theme, p.m.keys.ofFirst())
}

func (p *player) permission(rest string) {
	in := decode[struct {
		Call                   tool.CallID
		Tool, Rule, Why, Agent string
		Covers, Spares, Save   string
		Saved                  string
		Offers                 []ask.Offer // beside that of Rule
		Needs                  []tool.Need
		Preview                []tool.Block
		Repaired               bool
		Repair                 *tool.Repair
		NoSchemaMode           tool.NoSchemaMode
		Resolved               map[string]string // by target
		Waiting                int
		Edit                   string // what may be rewritten
		Hunks                  bool   // may be refused one by one
		NoOffer                string
		Edits                  bool
	}](p.t, rest)
	a := &permission.Asked{Reply: make(chan ask.Answer, 1)}
	a.Why, a.Preview, a.NoOffer, a.Edits = in.Why, in.Preview, in.NoOffer, in.Edits
	if in.Rule != "" {
		a.Offers = append(a.Offers, ask.Offer{Rule: in.Rule, Covers: in.Covers, Spares: in.Spares, Save: in.Save, Saved: in.Saved})
	}
	a.Offers = append(a.Offers, in.Offers...)
	a.Question = tool.Question{Tool: tool.Definition{Name: in.Tool}, Needs: in.Needs, Call: in.Call, Repaired: in.Repaired || in.Repair != nil, Repair: in.Repair, Agent: in.Agent}
	a.Question.Tool.AllowNoSchema, a.Question.Tool.NoSchemaMode = in.NoSchemaMode != "", in.NoSchemaMode
	a.Resolved, a.Waiting = map[tool.Need]string{}, func() int { return in.Waiting }
	if in.Edit != "" {
		a.Question.Editing = &tool.Editing{Name: "command", Text: in.Edit}
	}
	if in.Hunks {
		a.Question.WithoutHunks = func(context.Context, []int, string) (*tool.Change, error) { return nil, nil }
	}
	for _, n := range in.Needs {
		a.Resolved[n] = in.Resolved[n.Target]
	}
	p.open = append(p.open, a)
	p.send(batch{a})
}
