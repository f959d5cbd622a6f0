package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"adze/session"
)

// offering answers each occasion by its prompt, or by the output of its first outcome; what is not
// in the table leaves the offer as it is.
func offering(table map[string]string, seen *[]session.Occasion) session.Offerer {
	return func(_ context.Context, o session.Occasion) *session.Offer {
		*seen = append(*seen, o)
		key := o.Prompt
		if len(o.Outcomes) > 0 {
			key = o.Outcomes[0].Output
		}
		names, ok := table[key]
		if !ok {
			return nil
		}
		return &session.Offer{Tools: strings.Fields(names), Reason: "the test wants it", Excluded: []session.Exclusion{{Reason: "unfit", Tools: []string{"finish"}}}}
	}
}

// offeredBy lists what the model was shown, one line a request.
func (r *rig) offeredBy() (lines []string, digests []string) {
	for _, q := range r.model.requests {
		var names []string
		for _, d := range q.Tools {
			names = append(names, d.Name)
		}
		lines = append(lines, strings.Join(names, " "))
		digests = append(digests, q.ToolsDigest)
	}
	return lines, digests
}

func TestTheOfferChangesOnlyAtAnOccasion(t *testing.T) {
	var seen []session.Occasion
	r := newRig(t,
		says(call("c1", "look", `{"text":"a"}`)),
		says(call("c2", "look", `{"text":"b"}`)),
		says(call("c3", "change", `{"text":"c"}`)), // found, and offered now
		says(text("done")),
		says(text("again")),
	)
	r.config.Offer = offering(map[string]string{"go": "look nonsense look", "did b": "look change"}, &seen)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseDone)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "more"}), session.CauseDone)

	lines, digests := r.offeredBy()
	if want := []string{"look", "look", "look change", "look change", "look change"}; !slices.Equal(lines, want) {
		t.Errorf("offered %q, want %q", lines, want)
	}
	if digests[0] != digests[1] || digests[1] == digests[2] || digests[2] != digests[4] {
		t.Errorf("digests do not follow the tools: %q", digests)
	}
	wantText(t, "log", r.shelf.types(), "start message offer message outcome message outcome offer prefix message intent outcome message end message message end")
	wantText(t, "events", r.kinds(), "user notice assistant end:c1 assistant end:c2 notice assistant end:c3 assistant result:done user assistant result:done")
	if len(seen) != 5 || seen[0].Offered != nil || strings.Join(seen[1].Offered, " ") != "look" || seen[4].Prompt != "more" {
		t.Errorf("occasions: %+v", seen)
	}
	if !r.shelf.has(session.OfferEntry, `"added":["change"]`) || !r.shelf.has(session.OfferEntry, `"excluded":[{"reason":"unfit","tools":["finish"]}]`) {
		t.Error("the log does not tell what changed and why tools were left out")
	}
}

func TestAChangeOfTheOfferIsNamed(t *testing.T) {
	var seen []session.Occasion
	r := newRig(t, says(text("one")), says(text("two")))
	r.config.Offer = offering(map[string]string{"a": "look change", "b": "look finish"}, &seen)
	s := session.New(r.config)
	s.Prompt(t.Context(), session.Input{Text: "a"})
	s.Prompt(t.Context(), session.Input{Text: "b"})
	var notices []string
	for _, e := range r.events {
		if n, ok := e.(session.Notice); ok {
			notices = append(notices, n.Text)
		}
	}
	want := []string{"2 of 3 tools are offered: the test wants it", "the offer of tools changed: +finish -change (the test wants it)"}
	if !slices.Equal(notices, want) {
		t.Errorf("notices %q, want %q", notices, want)
	}
}

func TestACallOfAToolThatIsNotOfferedIsValid(t *testing.T) {
	var seen []session.Occasion
	r := newRig(t, says(call("c1", "change", `{"text":"x"}`)), says(text("done")))
	r.config.Offer = offering(map[string]string{"go": "look"}, &seen)
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	if got := r.outcomes(t); !slices.Equal(got, []string{"c1 completed did x"}) {
		t.Errorf("outcomes %q", got)
	}
}

func TestAResumedSessionOffersWhatItOffered(t *testing.T) {
	var seen []session.Occasion
	r := newRig(t, says(text("one")), says(text("two")), says(text("three")))
	r.config.Offer = offering(map[string]string{"a": "finish look"}, &seen)
	r.prompt(t, "a")
	resume := func() {
		t.Helper()
		s, err := session.Resume(t.Context(), r.config)
		if err != nil {
			t.Fatal(err)
		}
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: "b"}), session.CauseDone)
	}
	resume()
	r.config.Offer = nil // the catalogue became small: everything is offered
	resume()
	lines, digests := r.offeredBy()
	if want := []string{"finish look", "finish look", "look change finish"}; !slices.Equal(lines, want) || digests[0] != digests[1] {
		t.Errorf("offered %q with %q, want %q", lines, digests, want)
	}
}

func TestAnOfferThatCannotBeStoredEndsTheTurn(t *testing.T) {
	var seen []session.Occasion
	r := newRig(t, says(call("c1", "look", `{"text":"b"}`)), says(text("never")))
	r.config.Offer = offering(map[string]string{"did b": "look change"}, &seen)
	r.shelf.failAt = 4 // start, prompt, answer, outcome
	wantCause(t, r.prompt(t, "go"), session.CauseStore)
	if len(r.model.requests) != 1 {
		t.Errorf("%d requests were made after the failure", len(r.model.requests)-1)
	}
}

func TestADamagedOfferIsNamed(t *testing.T) {
	r := newRig(t)
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old"}),
		{Type: session.OfferEntry, Data: json.RawMessage(`{"tools":7}`)},
	}
	if _, err := session.Resume(t.Context(), r.config); err == nil || !strings.Contains(err.Error(), "entry 2 (offer) is damaged") {
		t.Errorf("error = %v", err)
	}
}
