package session_test

import (
	"strings"
	"testing"

	"adze/session"
)

// The check gets the answer and where its turn begins; what it finds is stored with the end and
// known when the session goes on, until the next answer.
func TestClaimsAreKeptWithTheTurn(t *testing.T) {
	r := newRig(t, says(text("one")), says(looks("a")), says(text("two")), says(text("three")))
	var begins, lengths []int
	r.config.Claims.Check = func(a session.Answered) ([]session.Claim, []session.Evidence) {
		begins, lengths = append(begins, a.Begin), append(lengths, len(a.History))
		if a.Text != "two" {
			return nil, nil
		}
		return []session.Claim{{Kind: session.TestsClaim, Quote: "two", Text: "says two"}}, nil
	}
	s := session.New(r.config)
	s.Prompt(t.Context(), session.Input{Text: "go"})
	res := s.Prompt(t.Context(), session.Input{Text: "on"})
	wantCause(t, res, session.CauseDone)
	if len(res.Claims) != 1 || len(s.Claims()) != 1 || !r.shelf.has(session.EndEntry, `"text":"says two"`) {
		t.Errorf("claims = %v, %v", res.Claims, s.Claims())
	}
	if begins[1] != 2 || lengths[1] != 5 {
		t.Errorf("the turn begins at %v of %v", begins, lengths)
	}
	again, err := session.Resume(t.Context(), r.config)
	if err != nil || len(again.Claims()) != 1 {
		t.Fatalf("after the resume: %v, %v", again.Claims(), err)
	}
	again.Prompt(t.Context(), session.Input{Text: "more"})
	if len(again.Claims()) != 0 || begins[2] != 6 {
		t.Errorf("claims of another answer: %v; begins %v", again.Claims(), begins)
	}
	if strings.Contains(r.kinds(), "notice") || strings.Contains(r.shelf.types(), "note") {
		t.Errorf("the model was told: %s", r.shelf.types())
	}
}

// The model is told once a turn where that is wanted, and an answer that is not the last word is
// not looked at.
func TestClaimsAreSentOnce(t *testing.T) {
	r := newRig(t, says(text("one")), says(text("two")))
	r.config.Claims.Send = true
	r.config.Claims.Check = func(a session.Answered) ([]session.Claim, []session.Evidence) {
		return []session.Claim{{Kind: session.TestsClaim, Quote: a.Text, Text: "says " + a.Text}}, nil
	}
	res := r.prompt(t, "go")
	wantCause(t, res, session.CauseDone)
	last := r.model.requests[1].Messages
	if len(r.model.requests) != 2 || !last[len(last)-1].Note || !strings.Contains(last[len(last)-1].Text(), "says one") {
		t.Errorf("%d requests", len(r.model.requests))
	}
	if len(res.Claims) != 1 || res.Claims[0].Text != "says two" {
		t.Errorf("claims = %v", res.Claims)
	}
	r = newRig(t, only(text("half")))
	r.config.Claims.Check = func(session.Answered) ([]session.Claim, []session.Evidence) {
		t.Error("looked at")
		return nil, nil
	}
	if res := r.prompt(t, "go"); res.Cause == session.CauseDone || len(res.Claims) > 0 {
		t.Errorf("result = %+v", res)
	}
}
