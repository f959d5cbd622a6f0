package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// Another model answers the one turn that its composer lends it, with its own price, and the log
// says so; a turn that fails to be composed gives it back, too.
func TestALentModelAnswersOneTurn(t *testing.T) {
	r := newRig(t, says(text("mine")), says(text("mine again")), says(text("still mine")))
	other := newRig(t, says(text("a look"), call("c1", "look", "{}")), says(text("theirs")))
	r.config.Effort = "high"
	r.config.Price = func(_, model string, u session.Usage) (float64, bool) {
		return map[string]float64{"m": 100, "small": 1}[model], true
	}
	s := session.New(r.config)
	lends := func(err error) session.Input {
		return session.Input{Compose: func(context.Context, func(tool.RawCall) tool.Outcome) (string, error) {
			s.UseModelForTurn(other.model, "small")
			return "composed", err
		}}
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	lent := s.Prompt(t.Context(), lends(nil))
	wantCause(t, lent, session.CauseDone)
	if lent.Text != "theirs" || lent.Cost == nil || *lent.Cost != 2 || lent.Usage["fake/m"].Input != 0 {
		t.Errorf("the lent turn came to %q for %v, %v", lent.Text, lent.Cost, lent.Usage)
	}
	if got := s.Ledger().Model; got != "fake/m" {
		t.Errorf("the next request is weighed for %s", got)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "three"}), session.CauseDone)
	wantCause(t, s.Prompt(t.Context(), lends(&session.ComposeError{Cause: session.CauseUsage, Message: "no"})), session.CauseUsage)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "five"}), session.CauseDone)
	if len(r.model.requests) != 3 || len(other.model.requests) != 2 {
		t.Fatalf("%d and %d requests", len(r.model.requests), len(other.model.requests))
	}
	for _, q := range other.model.requests {
		if q.Model != "small" || q.Effort != "" {
			t.Errorf("the lent model was asked as %q with effort %q", q.Model, q.Effort)
		}
	}
	for _, q := range r.model.requests {
		if q.Model != "m" || q.Effort != "high" {
			t.Errorf("the session's model was asked as %q with effort %q", q.Model, q.Effort)
		}
	}
	var said []string
	for _, m := range s.History() {
		if m.Role == session.Assistant {
			said = append(said, fmt.Sprint(m.Model, " ", m.LentModel))
		}
	}
	if want := "m false, small true, small true, m false, m false"; strings.Join(said, ", ") != want {
		t.Errorf("answered %v, want %s", said, want)
	}
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.Ledger(), s.Ledger(); got.Cost == nil || want.Cost == nil || *got.Cost != *want.Cost || *got.Cost != 302 {
		t.Errorf("resumed, it cost %v; it did %v", got.Cost, want.Cost)
	}
	if !slices.EqualFunc(again.History(), s.History(), func(a, b session.Message) bool { return a.LentModel == b.LentModel && a.Model == b.Model }) {
		t.Error("the log tells it otherwise")
	}
}

// An answer that another model gave, in the place of the one that was asked, has that one's price,
// also in a resumed session, which still asks the first.
func TestAnAnswerInTheirPlace(t *testing.T) {
	theirs := session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: 10, Output: 1}, Provider: "other", Model: "small"}
	r := newRig(t, only(text("theirs"), theirs), says(text("mine")))
	r.config.Price = func(provider, model string, _ session.Usage) (float64, bool) {
		return map[string]float64{"fake/m": 100, "other/small": 1}[provider+"/"+model], true
	}
	s := session.New(r.config)
	end := s.Prompt(t.Context(), session.Input{Text: "one"})
	wantCause(t, end, session.CauseDone)
	if end.Cost == nil || *end.Cost != 1 || end.Usage["other/small"].Input != 10 || s.Ledger().Model != "fake/m" {
		t.Errorf("it came to %v, %v", end.Cost, end.Usage)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two"}), session.CauseDone)
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Ledger(); got.Cost == nil || *got.Cost != 101 || got.Model != "fake/m" {
		t.Errorf("resumed, it cost %v with %s", got.Cost, got.Model)
	}
	for _, m := range again.History() {
		if m.Role == session.Assistant && m.LentModel != (m.Model == "small") {
			t.Errorf("%s/%s, lent: %v", m.Provider, m.Model, m.LentModel)
		}
	}
}
