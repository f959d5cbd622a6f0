package session_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tool"
)

// batches is a store that remembers how many outcomes came at a time.
type batches struct {
	*shelf
	sizes []int
}

func (b *batches) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	n := 0
	for _, e := range entries {
		if e.Type == session.OutcomeEntry {
			n++
		}
	}
	if n > 0 {
		b.sizes = append(b.sizes, n)
	}
	return b.shelf.Append(ctx, id, entries...)
}

// Outcomes that are there together are stored in one go, in the model's order, before any of them
// is shown; nobody waits for a call after the one whose turn it is.
func TestOutcomesThatAreThereTogetherAreStoredTogether(t *testing.T) {
	took := map[string]time.Duration{"first": 2 * time.Second, "early": time.Second, "late": 3 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		r := rigWith(t, []tool.Tool{noting("look", tool.Read, func(_ context.Context, s string) (string, error) {
			time.Sleep(took[s]) // of the bubble's clock
			return "saw " + s, nil
		})}, says(call("c1", "look", `{"text":"first"}`), call("c2", "look", `{"text":"early"}`), call("c3", "look", `{"text":"early"}`), call("c4", "look", `{"text":"late"}`)), says(text("done")))
		store := &batches{shelf: r.shelf}
		r.config.Store = store
		r.onSee = func(e session.Event) {
			if end, ok := e.(session.ToolEnd); ok && !r.shelf.has(session.OutcomeEntry, string(end.Outcome.Call)) {
				t.Errorf("%s is shown before it is stored", end.Outcome.Call)
			}
		}
		wantCause(t, r.prompt(t, "go"), session.CauseDone)
		wantText(t, "events", r.kinds(), "user assistant end:c1 end:c2 end:c3 end:c4 assistant result:done")
		if !slices.Equal(store.sizes, []int{3, 1}) {
			t.Errorf("outcomes were stored %v at a time, want 3 and 1", store.sizes)
		}
	})
}

// When they cannot be saved, none of them is shown, and nothing further runs.
func TestOutcomesThatCannotBeStoredAreNotShown(t *testing.T) {
	r := newRig(t, says(call("c1", "look", `{"text":"a"}`), call("c2", "look", `{"text":"b"}`), call("c3", "change", `{"text":"c"}`)), says(text("done")))
	r.shelf.failAt = 3 // start and the two messages
	if result := r.prompt(t, "go"); result.Cause == session.CauseDone {
		t.Fatalf("it ended with %s", result.Cause)
	}
	for _, e := range r.events {
		if end, ok := e.(session.ToolEnd); ok && end.Outcome.Status == tool.Completed {
			t.Errorf("%s is shown and not saved", end.Outcome.Call)
		}
	}
	if r.shelf.has(session.IntentEntry, "c3") || r.shelf.has(session.OutcomeEntry, "c3") {
		t.Error("a call ran after what was not saved")
	}
}
