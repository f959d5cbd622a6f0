package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/session"
	"adze/tool"
)

// changes lists what the guard said, as events, which the log must hold too.
func (r *rig) changes(t *testing.T) []session.PrefixChange {
	t.Helper()
	var seen, stored []session.PrefixChange
	for _, e := range r.events {
		if c, ok := e.(session.PrefixChanged); ok {
			seen = append(seen, c.Change)
		}
	}
	for _, e := range r.shelf.entries {
		var c session.PrefixChange
		if e.Type == session.PrefixEntry && json.Unmarshal(e.Data, &c) == nil {
			stored = append(stored, c)
		}
	}
	if fmt.Sprint(seen) != fmt.Sprint(stored) {
		t.Errorf("seen %v, stored %v", seen, stored)
	}
	return seen
}

func wantChange(t *testing.T, got []session.PrefixChange, expected bool, causes ...string) session.PrefixChange {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("%d changes: %v, want %q", len(got), got, causes)
	}
	if !slices.Equal(got[0].Causes, causes) || got[0].Expected != expected {
		t.Errorf("causes %q (expected: %v), want %q (%v)", got[0].Causes, got[0].Expected, causes, expected)
	}
	return got[0]
}

// A normal session says nothing: prompts, parallel calls, failures, denials, steering, an abort, a
// refusal.
func TestFiftyNormalTurnsKeepThePrefix(t *testing.T) {
	var all []func(context.Context, func(session.Chunk) bool)
	for i := range 50 {
		all = append(all,
			says(session.Reasoning{Delta: "hm", Opaque: json.RawMessage(`{ "sealed": "<&>" }`)}, text("I look."), call(fmt.Sprint("a", i), "look", `{"text":"x"}`), call(fmt.Sprint("b", i), "change", `{"text":"y"}`), call(fmt.Sprint("c", i), "missing", `{`)),
			says(text("done")))
		if i%10 == 9 {
			all[len(all)-1] = only(text("half"), session.Done{Stop: session.StopRefused, Usage: session.Usage{Input: 5}})
		}
	}
	r := newRig(t, all...)
	r.config.Gate = tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		return tool.Decision{Allow: q.Tool.Name == "look", Reason: "no"}, nil
	})
	s := session.New(r.config)
	for i := range 50 {
		in := session.Input{Text: fmt.Sprint("turn ", i)}
		if i >= 42 { // of earlier turns it would be left out
			in.Attachments = []tool.Attachment{{Name: "a.png", MediaType: "image/png", Data: []byte{1}}}
		}
		s.Prompt(t.Context(), in)
	}
	if got := r.changes(t); len(got) != 0 || len(r.model.requests) != 100 {
		t.Errorf("%d requests, changes %v", len(r.model.requests), got)
	}
	counted := 0
	for _, e := range r.events {
		if c, ok := e.(session.Counted); ok && c.Message != "" {
			counted++
		}
	}
	if counted != 100 {
		t.Errorf("%d of 100 requests were counted", counted)
	}
	// The next process goes on with the same bytes.
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	r.model.steps = append(r.model.steps, says(text("on")))
	wantCause(t, again.Prompt(t.Context(), session.Input{Text: "and now"}), session.CauseDone)
	if got := r.changes(t); len(got) != 0 {
		t.Errorf("after a resume: %v", got)
	}
}

func TestTheGuardNamesAMessageThatWasTakenBack(t *testing.T) {
	r := newRig(t, says(text("one")), says(text(strings.Repeat("two ", 100))), says(text("three")))
	s := session.New(r.config)
	s.Prompt(t.Context(), session.Input{Text: "first"})
	s.Prompt(t.Context(), session.Input{Text: strings.Repeat("x", 400)})
	if _, err := s.Rewind(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Prompt(t.Context(), session.Input{Text: "second"})
	if c := wantChange(t, r.changes(t), true, "message m3 was taken back"); c.Lost != 200 || c.Message != "m6" {
		t.Errorf("%+v: %s", c, c)
	}
}

func TestTheGuardNamesAnotherOffer(t *testing.T) {
	var seen []session.Occasion
	r := newRig(t, says(text("one")), says(text("two")), says(text("three")))
	r.config.Offer = offering(map[string]string{"go": "look finish", "more": "look change"}, &seen)
	s := session.New(r.config)
	for _, text := range []string{"go", "go on", "more"} {
		s.Prompt(t.Context(), session.Input{Text: text})
	}
	if c := wantChange(t, r.changes(t), true, "the tool offer changed: +change -finish"); c.Lost == 0 {
		t.Errorf("%+v", c)
	}
}

// resumed goes on with a session of one turn after something changed.
func resumed(t *testing.T, change func(*rig)) *rig {
	t.Helper()
	r := newRig(t, says(text("one")), says(text("two")), says(text("three")))
	r.config.Start.Model, r.config.Start.Tools = "fake/m", r.set.Digest()
	session.New(r.config).Prompt(t.Context(), session.Input{Text: strings.Repeat("first ", 100)})
	change(r)
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	s.Prompt(t.Context(), session.Input{Text: "second"})
	s.Prompt(t.Context(), session.Input{Text: "third"}) // says nothing more
	return r
}

func TestTheGuardBeginsAnewAfterARestart(t *testing.T) {
	r := resumed(t, func(r *rig) { r.config.Start.System = "you are another" })
	if got := r.changes(t); len(got) != 0 {
		t.Errorf("told %+v", got)
	}
}

// Nobody may change the system prompt, the definitions or an old message of a running session. When
// it happens all the same, it is a warning.
func TestTheGuardWarnsOfWhatNobodyWanted(t *testing.T) {
	for _, c := range []struct {
		name, cause string
		change      func(s *session.Session)
	}{
		{"a message", "message m1 changed", func(s *session.Session) {
			s.History()[0].Parts = []session.Part{{Kind: session.TextPart, Text: "another"}}
		}},
		{"one that is gone", "message m1 is not there any more", func(s *session.Session) { s.History()[0] = session.Message{ID: "m9", Role: session.User} }},
	} {
		r := newRig(t, says(text("one")), says(text("two")))
		s := session.New(r.config)
		s.Prompt(t.Context(), session.Input{Text: "first"})
		c.change(s)
		s.Prompt(t.Context(), session.Input{Text: "second"})
		wantChange(t, r.changes(t), false, c.cause)
	}
}

func TestTheLedgerOfASessionIsThatOfItsResume(t *testing.T) {
	counts := func(n int) func(context.Context, func(session.Chunk) bool) {
		return only(text("an answer"), session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: n, CacheRead: 10, Output: 3}})
	}
	r := newRig(t, counts(1500), counts(1600), says(text("gone"), call("c1", "look", `{"text":"x"}`)), says(text("end")))
	r.config.Price, r.config.Window = cents, func(string, string) int { return 4000 }
	s := session.New(r.config)
	for _, text := range []string{strings.Repeat("a", 4000), "again", "back"} {
		s.Prompt(t.Context(), session.Input{Text: text})
	}
	if _, err := s.Rewind(t.Context()); err != nil {
		t.Fatal(err)
	}
	live := s.Ledger()
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	stored := again.Ledger()
	if live.Corrected != 2 || stored.Corrected != 2 { // a count of 10 is absurd
		t.Errorf("corrected by %d requests, after the resume by %d", live.Corrected, stored.Corrected)
	}
	if stored.Estimate == 0 || stored.Window != 4000 || len(stored.Used) != 1 || stored.Used[0].Requests != 4 || *stored.Cost != *live.Cost || fmt.Sprint(stored.Last) != fmt.Sprint(live.Last) {
		t.Errorf("live   %+v\nstored %+v", live, stored)
	}
	if fmt.Sprint(stored.Sources) != fmt.Sprint(live.Sources) {
		t.Errorf("live   %+v\nstored %+v", live.Sources, stored.Sources)
	}
	if percent, ok := stored.Fill(); !ok || percent < 35 || percent > 60 {
		t.Errorf("%d%%, %v", percent, ok)
	}
}

// A run that was killed in the middle of an answer left what was saved of it: the same model goes
// on from there.
func TestUnfinishedTextKeepsItsModel(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newRig(t, func(_ context.Context, yield func(session.Chunk) bool) {
		now = now.Add(2 * time.Second)
		yield(text("half an ans"))
		yield(session.Done{Stop: session.StopEnd})
	}, says(text("on")))
	r.config.Now = func() time.Time { return now }
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	r.shelf.entries = r.shelf.entries[:3] // start, message, partial
	resumed, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	wantCause(t, resumed.Prompt(t.Context(), session.Input{Text: "and?"}), session.CauseDone)
	if got := r.changes(t); len(got) != 0 {
		t.Errorf("told of changes %+v", got)
	}
	wantText(t, "the request", shape(t, r.model.requests[1].Messages), "uau")
	if used := resumed.Ledger().Used; len(used) != 1 || used[0].Model == "" {
		t.Errorf("used %+v, want one named model", used)
	}
}
