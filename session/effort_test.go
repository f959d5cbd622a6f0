package session_test

import (
	"testing"

	"adze/session"
)

// An effort holds from the next request on, and a resumed session goes on with it unless the run
// names another.
func TestAnEffortIsKeptWithTheSession(t *testing.T) {
	r := newRig(t, says(text("one")), says(call("c", "look", `{}`)), says(text("two")), says(text("three")), says(text("four")), says(text("five")))
	r.config.Effort = "low"
	s := session.New(r.config)
	s.Prompt(t.Context(), session.Input{Text: "a"})
	r.onSee = func(e session.Event) {
		if _, ok := e.(session.ToolEnd); ok {
			s.SetEffort("max") // while the turn runs
		}
	}
	s.Prompt(t.Context(), session.Input{Text: "b"})
	r.onSee = nil
	resume := func(effort string) *session.Session {
		c := r.config
		c.Effort = effort
		s, err := session.Resume(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	resume("").Prompt(t.Context(), session.Input{Text: "c"})
	resume("high").Prompt(t.Context(), session.Input{Text: "d"})
	back := resume("")
	if got := back.Effort(); got != "high" {
		t.Errorf("resumed with %q", got)
	}
	back.SetEffort(session.DefaultEffort)
	back.Prompt(t.Context(), session.Input{Text: "e"})
	var got []string
	for _, request := range r.model.requests {
		got = append(got, request.Effort)
	}
	want := []string{"low", "low", "max", "max", "high", ""}
	if len(got) != len(want) {
		t.Fatalf("efforts %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("request %d: effort %q, want %q", i+1, got[i], want[i])
		}
	}
	if got := resume("").Effort(); got != "" {
		t.Errorf("after it was taken back: %q", got)
	}
}
