package session_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"adze/session"
)

// slowly yields chunks one second apart.
func slowly(r *rig, chunks ...session.Chunk) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.config.Now = func() time.Time { return now }
	r.model.steps = append(r.model.steps, func(_ context.Context, yield func(session.Chunk) bool) {
		for _, c := range chunks {
			now = now.Add(time.Second)
			if !yield(c) {
				return
			}
		}
	})
}

// Whatever was stored of an answer when the process ended comes back, part by part, and no letter
// is stored twice.
func TestFragmentsMakeTheMessage(t *testing.T) {
	seal := json.RawMessage(`{"sig":"x"}`)
	chunks := []session.Chunk{
		session.Reasoning{Delta: "hm "}, session.Reasoning{Delta: "so"}, session.Reasoning{Opaque: seal},
		text("one "), text("two "), session.Reasoning{Delta: "wait"}, text("three ü"), text(" four"),
		session.Done{Stop: session.StopEnd},
	}
	r := newRig(t)
	slowly(r, chunks...)
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	var stored strings.Builder
	for _, e := range r.shelf.entries {
		if e.Type == session.FragmentEntry {
			var p session.Fragment
			if err := json.Unmarshal(e.Data, &p); err != nil {
				t.Fatal(err)
			}
			stored.WriteString(p.Text)
		}
	}
	wantText(t, "fragments", stored.String(), "hm soone two waitthree ü four")

	whole := r.shelf.entries
	for cut := 2; cut <= len(whole); cut++ {
		r.shelf.entries = whole[:cut]
		s, err := session.Resume(t.Context(), r.config)
		if err != nil {
			t.Fatal(err)
		}
		history := s.History()
		if cut == 2 {
			if len(history) != 1 {
				t.Errorf("%d messages before the answer", len(history))
			}
			continue
		}
		got, want := history[1], messageAfter(min(cut-2, 8)) // behind them stand the message and the end
		if !reflect.DeepEqual(parts(got), want) || got.Provider != "fake" || got.Prompt == "" {
			t.Errorf("after %d entries: %v of %s, want %v", cut, parts(got), got.Provider, want)
		}
	}
}

// messageAfter is what TestFragmentsMakeTheMessage has shown after so many chunks.
func messageAfter(chunks int) []string {
	grown := [][]string{
		{"reasoning hm "}, {"reasoning hm so"}, {`reasoning hm so {"sig":"x"}`},
		{`reasoning hm so {"sig":"x"}`, "text one "}, {`reasoning hm so {"sig":"x"}`, "text one two "},
		{`reasoning hm so {"sig":"x"}`, "text one two ", "reasoning wait"},
		{`reasoning hm so {"sig":"x"}`, "text one two ", "reasoning wait", "text three ü"},
		{`reasoning hm so {"sig":"x"}`, "text one two ", "reasoning wait", "text three ü four"},
	}
	return grown[chunks-1]
}

func parts(m session.Message) []string {
	var out []string
	for _, p := range m.Parts {
		out = append(out, strings.TrimSuffix(string(p.Kind)+" "+p.Text+" "+string(p.Opaque), " "))
	}
	return out
}

// A long answer is stored twice, not once a second.
func TestALongAnswerIsStoredTwice(t *testing.T) {
	const pieces, size = 300, 1000
	r := newRig(t)
	var chunks []session.Chunk
	for range pieces {
		chunks = append(chunks, text(strings.Repeat("x", size)))
	}
	slowly(r, append(chunks, session.Done{Stop: session.StopEnd})...)
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	stored := 0
	for _, e := range r.shelf.entries {
		stored += len(e.Data)
	}
	if most := pieces * size * 5 / 2; stored > most {
		t.Errorf("%d bytes stored of an answer of %d, at most %d", stored, pieces*size, most)
	}
}

// A model that writes faster than the clock runs is saved all the same: what waits is bounded.
func TestFragmentsAreBounded(t *testing.T) {
	r := newRig(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.config.Now = func() time.Time { return now }
	piece := strings.Repeat("line of prose\n", 1000)
	var chunks []session.Chunk
	for range 200 {
		chunks = append(chunks, text(piece))
	}
	r.model.steps = append(r.model.steps, func(_ context.Context, yield func(session.Chunk) bool) {
		for _, c := range append(chunks, session.Done{Stop: session.StopEnd}) {
			if !yield(c) {
				return
			}
		}
	})
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	fragments := 0
	for _, e := range r.shelf.entries {
		if e.Type != session.FragmentEntry {
			continue
		}
		if fragments++; len(e.Data) > 600<<10 {
			t.Errorf("a fragment has %d bytes", len(e.Data))
		}
	}
	if fragments != 5 {
		t.Errorf("%d fragments of %d bytes", fragments, 200*len(piece))
	}
}
