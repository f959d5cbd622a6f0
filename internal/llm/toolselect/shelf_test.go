package toolselect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
	"adze/tool/rank"
	"adze/toolset"
)

// catalogue makes a set of the labelled tools, with a core of two and tool_search.
func catalogue(t *testing.T) *tool.Set {
	t.Helper()
	raw, err := os.ReadFile("../../../testdata/pick/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var registry tool.Registry
	add := func(name, description string) {
		t.Helper()
		err := registry.Register(tool.Define(name, tool.Config[struct{}, struct{}]{
			Description: description, Redact: tool.Expose(),
			Run: func(context.Context, tool.Context[struct{}], struct{}) (tool.Result[struct{}], error) {
				return tool.Result[struct{}]{}, errors.New("pre-selection ran a tool")
			},
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	add("read", "Read a file.")
	add("bash", "Run a command.")
	add("tool_search", "Find tools.")
	for line := range bytes.Lines(raw) {
		var d tool.Definition
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		add(d.Name, d.Description)
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func filled(t *testing.T, s *Selector) *Selector {
	t.Helper()
	s.core = []string{"read", "bash"}
	if s.Fill(catalogue(t)); s.Offerer() == nil {
		t.Fatal("the shelf offers all of hundreds of tools")
	}
	return s
}

func TestFewToolsAreAllOffered(t *testing.T) {
	set := catalogue(t)
	few := func(names ...string) *tool.Set {
		return set.Only(func(d tool.Definition) bool { return slices.Contains(names, d.Name) })
	}
	size := rank.OfferSize(must(set.Get("read"))) + rank.OfferSize(must(set.Get("bash")))
	for name, c := range map[string]struct {
		shelf   *Selector
		chooses bool
	}{
		"as many as the bound":  {&Selector{above: 2}, false},
		"more than the bound":   {&Selector{above: 1}, true},
		"within the budget":     {&Selector{budget: size, above: 1}, false},
		"one byte over budget":  {&Selector{budget: size - 1, above: 9}, true},
		"tool_search is no one": {&Selector{above: 2}, false},
	} {
		s := c.shelf
		kept := s.Fill(few("read", "bash", "tool_search")).Names()
		if got := s.Offerer() != nil; got != c.chooses || slices.Contains(kept, "tool_search") != c.chooses {
			t.Errorf("%s: chooses = %v, tools %v", name, got, kept)
		}
	}
}

func must(d tool.Definition, _ bool) tool.Definition { return d }

func TestTheFirstPromptChooses(t *testing.T) {
	s := filled(t, &Selector{above: 20})
	o := s.offer(session.Occasion{Prompt: "list the pods of a namespace"})
	if !slices.Equal(o.Tools[:3], []string{"read", "bash", "tool_search"}) || o.Tools[3] != "k8s_list_pods" || len(o.Tools) != 3+firstPicks {
		t.Errorf("offered %q", o.Tools)
	}
	reasons := 0
	for _, e := range o.Excluded {
		if e.Reason == "" {
			t.Errorf("no reason for %q", e.Tools)
		}
		reasons += len(e.Tools)
	}
	if all := len(s.set.Names()); len(o.Tools)+reasons != all {
		t.Errorf("%d offered and %d excluded of %d tools", len(o.Tools), reasons, all)
	}
}

func TestASmallBudgetLeavesTheCore(t *testing.T) {
	s := filled(t, &Selector{budget: 700})
	o := s.offer(session.Occasion{Prompt: "list the pods of a namespace"})
	if len(o.Tools) < 3 || len(o.Tools) > 5 || s.size(s.set.Only(func(d tool.Definition) bool { return slices.Contains(o.Tools, d.Name) }).Definitions()) > 700 {
		t.Errorf("offered %q", o.Tools)
	}
}

func TestALaterPromptChangesOnlyForAClearFit(t *testing.T) {
	s := filled(t, &Selector{above: 20})
	first := s.offer(session.Occasion{Prompt: "list the pods of a namespace"})
	for prompt, want := range map[string]string{
		"thanks, that is all":                       "",
		"now delete it":                             "",
		"list the pods of a namespace again":        "", // offered already
		"check the issuer of the tls certificate":   "tls_certificate_info",
		"translate the text into another language?": "translate_text",
	} {
		o := s.offer(session.Occasion{Prompt: prompt, Offered: first.Tools})
		switch {
		case want == "" && o != nil:
			t.Errorf("%q changed the offer to %q", prompt, o.Tools)
		case want != "" && (o == nil || !slices.Contains(o.Tools, want) || !slices.Equal(o.Tools[:len(first.Tools)], first.Tools)):
			t.Errorf("%q made %+v, want %s behind what was there", prompt, o, want)
		}
	}
}

func TestTheOldestPicksLeaveWhenThereAreMany(t *testing.T) {
	s := filled(t, &Selector{above: 20})
	offered := []string{"read", "bash", "tool_search"}
	for _, name := range s.set.Names() {
		if !slices.Contains(offered, name) && len(offered) < 3+mostPicked+5 {
			offered = append(offered, name)
		}
	}
	got := s.newest(offered)
	if want := append(slices.Clone(offered[:3]), offered[8:]...); !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

func TestWhatWasFoundOrCalledIsOffered(t *testing.T) {
	s := filled(t, &Selector{above: 20})
	offered := []string{"read", "bash", "tool_search"}
	search := func(names ...string) tool.Outcome {
		meta, _ := json.Marshal(map[string]any{"query": "q", "found": names})
		return tool.Outcome{Tool: "tool_search", Status: tool.Completed, Metadata: meta}
	}
	for name, c := range map[string]struct {
		outcomes []tool.Outcome
		want     string
	}{
		"nothing new":        {[]tool.Outcome{{Tool: "read", Status: tool.Completed}, search("bash")}, ""},
		"found":              {[]tool.Outcome{search("git_log", "made_up", "git_log")}, "git_log"},
		"called":             {[]tool.Outcome{{Tool: "git_tag", Status: tool.Invalid}}, "git_tag"},
		"unknown":            {[]tool.Outcome{{Tool: "made_up", Status: tool.Invalid}}, ""},
		"found by two calls": {[]tool.Outcome{search("git_log"), search("git_tag", "git_log")}, "git_log git_tag"},
	} {
		o := s.offer(session.Occasion{Outcomes: c.outcomes, Offered: offered})
		got := ""
		if o != nil {
			got = strings.Join(o.Tools[len(offered):], " ")
		}
		if got != c.want {
			t.Errorf("%s: added %q, want %q", name, got, c.want)
		}
	}
}

func TestFindMarksWhatIsOffered(t *testing.T) {
	s := filled(t, &Selector{above: 20})
	if got := (&Selector{}).Find(t.Context(), "x", 3); len(got.Tools) != 0 {
		t.Errorf("an empty shelf found %v", got)
	}
	s.choose(session.Occasion{Outcomes: []tool.Outcome{{Tool: "git_tag"}}, Offered: []string{"read"}})
	got := s.Find(t.Context(), "create an annotated tag", 2)
	if len(got.Tools) != 2 || got.Tools[0] != (toolset.ToolMatch{Name: "git_tag", Description: got.Tools[0].Description, Offered: true}) || got.Tools[1].Offered || got.Searched != len(s.set.Names())-1 {
		t.Errorf("found %+v", got)
	}
}
