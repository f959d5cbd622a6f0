package toolselect

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"adze/session"
	"adze/tool"
)

// late is a shelf with four tools, two of which wait.
func late(t *testing.T) (*Selector, *bool) {
	t.Helper()
	var registry tool.Registry
	for _, name := range []string{"bash", "list_processes", "git_status", "read"} {
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
	s := New(nil, 0, 0)
	s.Late = DefaultOccasions(Facts{Repository: func() bool { return repository }})
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
	ask(session.Occasion{Prompt: "go on", Offered: shown})
	*repository = true // nothing else brings git here: it is there at once
	ask(session.Occasion{Prompt: "Which processes listen?"}, "bash", "git_status", "read", "list_processes")
	*repository = false
	ask(session.Occasion{Offered: []string{"bash"}, Outcomes: []tool.Outcome{{Tool: "git_status"}}}, "bash", "git_status") // the model called it
	if out := s.Offerer()(t.Context(), session.Occasion{Prompt: "hi"}); len(out.Excluded) != 2 {
		t.Errorf("what waits has no reasons: %+v", out.Excluded)
	}
}

// What few sessions use waits for the words of a prompt, or for tool_search, and comes behind what
// was shown. Where tool_search is not there to bring it, it is shown from the start.
func TestConvenienceToolsWait(t *testing.T) {
	names := []string{"read", "bash", "git_status", "todowrite", "webfetch", "task", "tool_search"}
	for prompt, more := range map[string]string{
		"fix the failing test":                                       "",
		"the page is drawn twice when the task ends":                 "",
		"curl http://localhost:8080/health answers 500, why?":        "",
		"read https://go.dev/doc/modules and do it so":               "webfetch",
		"look at <https://example.com>, please":                      "webfetch",
		"What is not committed? Use git.":                            "git_status",
		"1. add a flag\n2. test it\n3. document it":                  "todowrite",
		"add the flag, then write a test, then update the README":    "todowrite",
		"keep a todo list":                                           "todowrite",
		"explore the codebase and tell me where retries are counted": "task",
	} {
		s := New(nil, 0, 0)
		s.Late = DefaultOccasions(Facts{Repository: func() bool { return true }})
		s.Fill(joined(t, names...))
		want := []string{"read", "bash", "tool_search"}
		if more != "" {
			want = append(want, more)
		}
		if got := s.Offerer()(t.Context(), session.Occasion{Prompt: prompt}).Tools; !slices.Equal(got, want) {
			t.Errorf("%q shows %v, want %v", prompt, got, want)
		}
	}

	s := New(nil, 0, 0)
	s.Late = DefaultOccasions(Facts{})
	s.Fill(joined(t, names...))
	shown := s.Offerer()(t.Context(), session.Occasion{Prompt: "hi"}).Tools
	if found := s.Find(t.Context(), "todowrite", 5); found.Searched != 6 || len(found.Tools) == 0 || found.Tools[0].Name != "todowrite" || found.Tools[0].Offered {
		t.Errorf("%+v", found)
	}
	for _, o := range []session.Occasion{
		{Outcomes: []tool.Outcome{{Tool: "tool_search", Status: tool.Completed, Metadata: json.RawMessage(`{"found":["todowrite","read"]}`)}}},
		{Outcomes: []tool.Outcome{{Tool: "todowrite"}}}, // called without being shown
		{Prompt: "First the parser, then the printer, and finally the docs."},
	} {
		o.Offered = shown
		if next := s.Offerer()(t.Context(), o); next == nil || !slices.Equal(next.Tools, append(slices.Clone(shown), "todowrite")) {
			t.Errorf("%+v brings %+v", o, next)
		}
	}
	if next := s.Offerer()(t.Context(), session.Occasion{Prompt: "what do the last commits and the website say?", Offered: shown}); next != nil {
		t.Errorf("a later prompt drops the cache for %+v", next)
	}

	s.Fill(joined(t, names[:len(names)-1]...))
	if got := s.Offerer()(t.Context(), session.Occasion{Prompt: "hi"}).Tools; len(got) != 6 {
		t.Errorf("without tool_search nothing brings what is not among %v", got)
	}
}
