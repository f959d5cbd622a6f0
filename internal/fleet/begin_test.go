package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"adze/internal/fleet"
	"adze/internal/fleet/batch"
)

// TestAnOldCopyBeginsNothing: the record in a ticket may have changed since; what is done is what
// stands in the book.
func TestAnOldCopyBeginsNothing(t *testing.T) {
	y := newYard(t, 1, nil)
	runs, err := y.List(t.Context(), y.sub.ID)
	if err != nil {
		t.Fatal(err)
	}
	key := "run." + runs[0].ID
	now := runs[0]
	now.Kept.Base = "newer"
	raw, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := y.Runs.Put(t.Context(), key, raw, 0); err != nil {
		t.Fatal(err)
	}
	y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		return done(j, j.Run.Kept.Base), "", nil
	}, nil)
	if r := y.until()[0]; r.Result.Text != "newer" || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
	y.empty()
}

// TestNothingIsDoneWithoutTheLease, and what was not done is no attempt.
func TestNothingIsDoneWithoutTheLease(t *testing.T) {
	y := newYard(t, 1, func(s *fleet.Submission) { s.Attempts = 1 })
	runs, err := y.List(t.Context(), y.sub.ID)
	if err != nil {
		t.Fatal(err)
	}
	held, err := y.Leases.Hold(t.Context(), runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	var given atomic.Bool
	y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		if !given.Load() {
			return batch.Result{}, "", errors.New("it was begun while another worker holds it")
		}
		return done(j, ""), "", nil
	}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var seen = errors.New("seen")
	err = y.Follow(ctx, y.sub.ID, 1, func(r fleet.Run) error {
		if r.Waits > 0 {
			return seen
		}
		return nil
	})
	if !errors.Is(err, seen) {
		t.Fatal(err)
	}
	given.Store(true)
	if err := held.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if r := y.until()[0]; r.State != fleet.Finished || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
}
