package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// asked lists what a request held of the user's words.
func asked(r session.Request) (out []string) {
	for _, m := range r.Messages {
		if m.Role == session.User {
			out = append(out, m.Text())
		}
	}
	return out
}

func TestASteeringMessageIsReadBeforeTheNextRequest(t *testing.T) {
	var s *session.Session
	run := func(context.Context, string) (string, error) {
		if !s.Steer("look at b instead") {
			t.Error("a running turn takes no message")
		}
		return "ok", nil
	}
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, run)}, says(call("c1", "look", `{"text":"a"}`)), says(text("end")))
	s = session.New(r.config)
	if s.Steer("too early") {
		t.Error("a message was taken without a turn")
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseDone)
	wantText(t, "events", r.kinds(), "user assistant end:c1 user assistant result:done")
	if got := asked(r.model.requests[1]); !slices.Equal(got, []string{"go", "look at b instead"}) {
		t.Errorf("the second request held %q", got)
	}
	if s.Steer("too late") {
		t.Error("a message was taken after the turn")
	}
}

func TestASteeringMessageKeepsAnEndingTurnGoing(t *testing.T) {
	r := newRig(t, says(text("done")), says(text("that too")))
	s := session.New(r.config)
	r.onSee = func(e session.Event) {
		if d, ok := e.(session.TextDelta); ok && d.Delta == "done" {
			s.Steer("and that")
		}
	}
	res := s.Prompt(t.Context(), session.Input{Text: "go"})
	wantCause(t, res, session.CauseDone)
	wantText(t, "text", res.Text, "that too")
	wantText(t, "log", r.shelf.types(), "start message message message message end")
	wantText(t, "events", r.kinds(), "user assistant user assistant result:done")
	if n := len(r.model.requests[1].Messages); n != 3 {
		t.Errorf("the second request holds %d messages, want the prompt, the answer and what was said to it", n)
	}
}

func TestAnAnswerIsCorrectedUntilItIsAccepted(t *testing.T) {
	r := newRig(t, says(text("one")), says(call("c1", "change", `{"text":"b"}`)), says(text("two")), says(text("three")))
	var judged []string
	r.config.Accept = func(text string, tries int) (string, error) {
		judged = append(judged, text)
		if tries == 2 {
			return "", nil
		}
		return "not " + text, nil
	}
	res := session.New(r.config).Prompt(t.Context(), session.Input{Text: "go"})
	wantCause(t, res, session.CauseDone)
	wantText(t, "text", res.Text, "three")
	if want := []string{"one", "two", "three"}; !slices.Equal(judged, want) {
		t.Errorf("judged %q, want %q", judged, want)
	}
	if got := asked(r.model.requests[3]); !slices.Equal(got, []string{"go", "not one", "not two"}) {
		t.Errorf("the last request held %q", got)
	}
	if n := len(r.model.requests[3].Messages); n != 7 {
		t.Errorf("the last request holds %d messages, want all 7: no answer is lost", n)
	}
}

func TestAnAnswerThatIsNeverAcceptedEndsTheTurn(t *testing.T) {
	r := newRig(t, says(text("one")))
	r.config.Accept = func(string, int) (string, error) {
		return "", &session.ProviderError{Kind: session.RefusedAnswer, Message: "not so"}
	}
	wantCause(t, session.New(r.config).Prompt(t.Context(), session.Input{Text: "go"}), session.CauseRefused)
	wantText(t, "log", r.shelf.types(), "start message message end")
}

func TestOneCallIsAbortedAndTheTurnGoesOn(t *testing.T) {
	var s *session.Session
	run := func(ctx context.Context, text string) (string, error) {
		if text == "quick" {
			return "ok", nil
		}
		if !s.CancelCall("c1") {
			t.Error("the running call is not known")
		}
		<-ctx.Done()
		return "", ctx.Err()
	}
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, run)},
		says(call("c1", "look", `{"text":"slow"}`), call("c2", "look", `{"text":"quick"}`)), says(text("end")))
	s = session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseDone)
	want := []string{"c1 aborted aborted: " + session.ErrCallAborted.Error(), "c2 completed ok"}
	if got := r.outcomes(t); !slices.Equal(got, want) {
		t.Errorf("outcomes %q, want %q", got, want)
	}
	if s.CancelCall("c1") {
		t.Error("a call that has ended was aborted")
	}
}

func TestACallOfThePersonIsToldToTheModel(t *testing.T) {
	r := newRig(t, says(text("I see")))
	s := session.New(r.config)
	res := s.Run(t.Context(), tool.RawCall{Name: "change", Arguments: `{"text":"b"}`},
		func(o tool.Outcome) string { return "I ran it: " + o.Output })
	wantCause(t, res, session.CauseDone)
	wantText(t, "log", r.shelf.types(), "start intent message outcome end")
	wantText(t, "events", r.kinds(), "end:person-m1 result:done")
	if !slices.Equal(res.Changed, []string{"b"}) {
		t.Errorf("changed %q", res.Changed)
	}
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "what now?"}), session.CauseDone)
	if got := asked(r.model.requests[0]); !slices.Equal(got, []string{"I ran it: did b", "what now?"}) {
		t.Errorf("the request held %q", got)
	}
}

func TestARewindTakesTheLastPromptBack(t *testing.T) {
	r := newRig(t, says(text("one")), says(call("c1", "change", `{"text":"b"}`)), says(text("two")), says(text("three")))
	s := session.New(r.config)
	if _, err := s.Rewind(t.Context()); !errors.Is(err, session.ErrNothingSaid) {
		t.Errorf("error %v", err)
	}
	for _, prompt := range []string{"first", "second"} {
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: prompt}), session.CauseDone)
	}
	said, err := s.Rewind(t.Context())
	if err != nil || said != "second" {
		t.Fatalf("took back %q, %v", said, err)
	}
	resumed, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []*session.Session{s, resumed} {
		if n := len(each.History()); n != 2 {
			t.Errorf("%d messages are left, want 2", n)
		}
	}
	wantCause(t, resumed.Prompt(t.Context(), session.Input{Text: "third"}), session.CauseDone)
	if got := asked(r.model.requests[3]); !slices.Equal(got, []string{"first", "third"}) {
		t.Errorf("the request held %q", got)
	}
	ids := map[string]bool{}
	for _, e := range r.shelf.entries {
		if e.Type == session.MessageEntry {
			id, _, _ := strings.Cut(strings.TrimPrefix(string(e.Data), `{"id":"`), `"`)
			if ids[id] {
				t.Errorf("two messages have the id %s", id)
			}
			ids[id] = true
		}
	}
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(again.History()); n != 4 {
		t.Errorf("%d messages after the next prompt, want 4", n)
	}
}

// A prompt may be made by calls of its own: they pass the pipeline and are stored before it.
func TestAPromptIsMadeByCalls(t *testing.T) {
	run := func(context.Context, string) (string, error) { return "found", nil }
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, run)}, says(text("end")), says(text("again")))
	s := session.New(r.config)
	in := session.Input{Compose: func(_ context.Context, run func(tool.RawCall) tool.Outcome) (string, error) {
		o := run(tool.RawCall{Name: "look", Arguments: `{"text":"a"}`, Origin: tool.FromCommand})
		return "I " + o.Output, nil
	}}
	wantCause(t, s.Prompt(t.Context(), in), session.CauseDone)
	wantText(t, "events", r.kinds(), "end:command-m1-1 user assistant result:done")
	if got := asked(r.model.requests[0]); !slices.Equal(got, []string{"I found"}) {
		t.Errorf("the request held %q", got)
	}
	again, err := session.Resume(t.Context(), r.config)
	if err != nil || len(again.History()) != 2 {
		t.Fatalf("resumed with %d messages: %v", len(again.History()), err)
	}
	wantCause(t, again.Prompt(t.Context(), session.Input{Text: "go on"}), session.CauseDone)
}

// Of a prompt that is given up nothing is said, and its calls keep their ids for themselves.
func TestAPromptIsGivenUp(t *testing.T) {
	run := func(context.Context, string) (string, error) { return "found", nil }
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, run)}, says(text("end")))
	s := session.New(r.config)
	fails := session.Input{Compose: func(_ context.Context, run func(tool.RawCall) tool.Outcome) (string, error) {
		run(tool.RawCall{Name: "look", Arguments: `{"text":"a"}`, Origin: tool.FromCommand})
		return "", &session.ComposeError{Cause: session.CauseTool, Message: "it failed", Hint: "mend it"}
	}}
	res := s.Prompt(t.Context(), fails)
	wantCause(t, res, session.CauseTool)
	if res.Message != "it failed" || res.Hint != "mend it" || len(r.model.requests) != 0 || len(s.History()) != 0 {
		t.Errorf("%q, %q, %d requests, %d messages", res.Message, res.Hint, len(r.model.requests), len(s.History()))
	}
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	wantCause(t, again.Prompt(t.Context(), fails), session.CauseTool)
	seen := map[string]bool{}
	for _, e := range r.shelf.entries {
		if e.Type == session.IntentEntry || e.Type == session.OutcomeEntry {
			var o struct {
				Call string `json:"call"`
			}
			if json.Unmarshal(e.Data, &o) != nil || seen[string(e.Type)+o.Call] {
				t.Errorf("%s %s twice", e.Type, o.Call)
			}
			seen[string(e.Type)+o.Call] = true
		}
	}
}
