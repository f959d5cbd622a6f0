package offer

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"adze/session"
	"adze/tool"
)

// late is a shelf with four tools, two of which wait.
func late(t *testing.T) (*Shelf, *bool) {
	t.Helper()
	var registry tool.Registry
	for _, name := range []string{"bash", "list_processes", "git_log", "read"} {
		if err := registry.Register(tool.Define(name, tool.Config[struct{}, struct{}]{
			Description: name, Redact: tool.Expose(),
			Run: func(context.Context, tool.Context[struct{}], struct{}) (tool.Result[struct{}], error) {
				return tool.Result[struct{}]{}, nil
			},
		})); err != nil {
			t.Fatal(err)
		}
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	repository := false
	s := New(nil, nil, 0, 0)
	s.Late = Usually(func() bool { return repository }, func() bool { return false })
	s.Fill(set)
	return s, &repository
}

// What a request showed stays where it was; what comes goes behind it.
func TestALateToolGoesToTheEnd(t *testing.T) {
	s, repository := late(t)
	ask := func(o session.Occasion, want ...string) []string {
		t.Helper()
		next := s.Offerer()(t.Context(), o)
		switch {
		case next == nil && want == nil:
			return o.Offered
		case next == nil || !slices.Equal(next.Tools, want) || !next.Quiet || next.Reason == "":
			t.Fatalf("%+v, want %v", next, want)
		}
		return next.Tools
	}
	shown := ask(session.Occasion{Prompt: "hi"}, "bash", "read")
	ask(session.Occasion{Prompt: "again", Offered: shown})
	ask(session.Occasion{Offered: shown, Outcomes: []tool.Outcome{{Tool: "bash", Metadata: json.RawMessage(`{"command":"echo '\"job\":'"}`)}}})
	shown = ask(session.Occasion{Offered: shown, Outcomes: []tool.Outcome{{Tool: "bash", Metadata: json.RawMessage(`{"job":"job1"}`)}}}, "bash", "read", "list_processes")
	*repository = true
	ask(session.Occasion{Offered: shown, Outcomes: []tool.Outcome{{Tool: "read"}}}) // it is looked at with a prompt
	shown = ask(session.Occasion{Prompt: "go on", Offered: shown}, "bash", "read", "list_processes", "git_log")
	ask(session.Occasion{Prompt: "go on", Offered: shown})
	ask(session.Occasion{Prompt: "Which processes listen?"}, "bash", "read", "list_processes", "git_log")
	*repository = false
	ask(session.Occasion{Offered: []string{"bash"}, Outcomes: []tool.Outcome{{Tool: "git_log"}}}, "bash", "git_log") // the model called it
	if out := s.Offerer()(t.Context(), session.Occasion{Prompt: "hi"}); len(out.Excluded) != 2 {
		t.Errorf("what waits has no reasons: %+v", out.Excluded)
	}
}
