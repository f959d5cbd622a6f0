package toolselect

import (
	"context"
	"slices"
	"testing"

	"adze/session"
	"adze/tool"
)

// TestToolsJoinBehindThoseThatWereShown: what was shown stays where it was, and the session gets
// the whole set with the offer.
func TestToolsJoinBehindThoseThatWereShown(t *testing.T) {
	s, _ := late(t)
	more := joined(t, "bash", "list_processes", "git_status", "read", "fake_echo")
	var next *tool.Set
	s.Joining = Joining{Set: func(context.Context, session.Occasion) *tool.Set { return next }}
	first := s.Offerer()(t.Context(), session.Occasion{Prompt: "hi"})
	if first == nil || first.Set != nil || !slices.Equal(first.Tools, []string{"bash", "read"}) {
		t.Fatalf("%+v", first)
	}
	if o := s.Offerer()(t.Context(), session.Occasion{Prompt: "on", Offered: first.Tools}); o != nil {
		t.Errorf("nothing joined, and %+v", o)
	}
	next = more
	o := s.Offerer()(t.Context(), session.Occasion{Prompt: "on", Offered: first.Tools})
	if o == nil || o.Set == nil || !slices.Equal(o.Tools, []string{"bash", "read", "fake_echo"}) || o.Reason == "" {
		t.Fatalf("%+v", o)
	}
	if _, has := o.Set.Get("fake_echo"); !has {
		t.Error("the session cannot call it")
	}
}

// TestASearchLooksThroughWhatJoins: also where all tools of before were shown.
func TestASearchLooksThroughWhatJoins(t *testing.T) {
	s, _ := late(t)
	s.Joining = Joining{Search: func(context.Context) *tool.Set {
		return joined(t, "bash", "tool_search", "fake_echo")
	}}
	if found := s.Find(t.Context(), "fake_echo", 5); found.Searched != 2 || len(found.Tools) == 0 || found.Tools[0].Name != "fake_echo" {
		t.Errorf("%+v", found)
	}
}

func joined(t *testing.T, names ...string) *tool.Set {
	t.Helper()
	var registry tool.Registry
	for _, name := range names {
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
	return set
}
