package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
)

// ports are written fakes that say what was asked of them.
func (p *player) ports() Ports {
	return Ports{
		Switch: true,
		Sessions: func(context.Context) ([]SessionHead, error) {
			return []SessionHead{
				{"s1", "fix the parser", "script/demo", "/home/ann/calc", p.clock},
				{"s0", "write the\u202e parser's tests", "openai/gpt-5.4", "/home/ann/calc", p.clock.Add(-2 * time.Hour)},
				{"r7", "rename everything", "ollama/qwen3", "/home/ann/other", p.clock.AddDate(0, 0, -3)},
				{"b2", "begin", "ollama/qwen3", "/home/ann/calc", p.clock.AddDate(0, 0, -40).UTC()},
			}, nil
		},
		Peek: func(_ context.Context, id string) (SessionPeek, error) {
			p.note("looked into " + id)
			cost := 0.1234
			return SessionPeek{Turns: 3, Messages: 14, Cost: &cost, Asked: "and the \u202e last question?", Answered: "This is what was answered last.\n\nIn two parts."}, nil
		},
		Models: func(context.Context) ([]ModelRow, error) { return testModels(), nil },
		Modes:  []Mode{{"plan", "nothing is changed"}, {"ask", "what changes something is asked"}, {"edits", "files are changed without asking"}},
		SetMode: func(name string) error {
			p.note("mode: " + name)
			return nil
		},
		CancelCall: func(id tool.CallID) bool {
			p.note("cancel: " + string(id))
			return true
		},
		Files: func(context.Context) ([]string, error) {
			return []string{"calc.go", "calc_test.go", "docs/a note.md", "internal/parse/parse.go", "internal/parse/parse_test.go", "README.md"}, nil
		},
		Run:      func(context.Context, string) session.Result { return session.Result{} }, // the player's start notes it
		Compact:  func(context.Context, string) session.Result { return session.Result{} },
		Steer:    func(text string) bool { p.note("steer: " + text); return true },
		Rewind:   func(context.Context) (string, error) { p.note("rewind"); return "the message as it was sent", nil },
		Picture:  func(context.Context) (string, error) { return "/home/ann/clipboard.png", nil },
		Past:     func() []string { return []string{"an older message"} },
		Remember: func(text string) { p.note("remember: " + text) },
		Drop: func(text string) (Dropped, bool) {
			switch text {
			case "/home/ann/shot.png":
				return Dropped{Path: text, Attach: text}, true
			case "'/home/ann/calc/a file.go'":
				return Dropped{Path: "a file.go"}, true
			}
			return Dropped{}, false
		},
	}
}

// testModels are models of every kind.
func testModels() []ModelRow {
	in, out, free := 3.0, 15.0, 0.0
	return []ModelRow{
		{Name: "script/demo"},
		{Name: "anthropic/claude-sonnet-4-6", Context: 200_000, Input: &in, Output: &out, Vision: true, Tools: true},
		{Name: "gemini/gemini-flash-latest", Context: 1_048_576, Input: &free, Output: &free, Vision: true, Tools: true},
		{Name: "ollama/qwen3", Context: 32_768, Tools: true, Note: "5.2 GB loaded"},
		{Name: "ollama/poet", Why: "it cannot call tools"},
		{Name: "groq/…", Why: "set GROQ_API_KEY"},
	}
}

// first opens the interface for who has no model. What is known at once and what a look finds are sections of
// the case, as JSON; every further look finds the next one.
func (p *player) first(rest string) {
	section := func(name string) Found {
		text, ok := p.c.Section(name)
		if !ok {
			p.t.Fatalf("no section %s", name)
		}
		return decode[Found](p.t, text)
	}
	names := strings.Fields(rest)
	looks := names[1:]
	p.m.info = Info{Version: "0.1.0"}
	p.m.status.facts = statusFacts{}
	p.m.ports = p.ports()
	p.m.first = newFirst(&First{Problem: "no model is configured", Known: section(names[0]), Look: func(context.Context) (Found, error) {
		p.note("looked")
		if len(looks) == 0 {
			return Found{}, errors.New("the configuration cannot be read")
		}
		found := section(looks[0])
		looks = looks[1:]
		return found, nil
	}}, p.m.draw.theme)
}

func (p *player) permission(rest string) {
	in := decode[struct {
		Tool, Rule, Why, Agent string
		Covers, Spares, Save   string
		Needs                  []tool.Need
		Preview                []tool.Block
		Repaired               bool
		Repair                 *tool.Repair
		NoSchemaMode           tool.NoSchemaMode
		Resolved               map[string]string // by target
		Waiting                int
	}](p.t, rest)
	a := &asked{reply: make(chan Answer, 1)}
	a.Rule, a.Why, a.Preview = in.Rule, in.Why, in.Preview
	a.Covers, a.Spares, a.Save = in.Covers, in.Spares, in.Save
	a.Question = tool.Question{Tool: tool.Definition{Name: in.Tool}, Needs: in.Needs, Repaired: in.Repaired || in.Repair != nil, Repair: in.Repair, Agent: in.Agent}
	a.Question.Tool.AllowNoSchema, a.Question.Tool.NoSchemaMode = in.NoSchemaMode != "", in.NoSchemaMode
	a.Resolved, a.Waiting = map[tool.Need]string{}, func() int { return in.Waiting }
	for _, n := range in.Needs {
		a.Resolved[n] = in.Resolved[n.Target]
	}
	p.open = append(p.open, a)
	p.send(batch{a})
}
