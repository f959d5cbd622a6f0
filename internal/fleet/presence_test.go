package fleet_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/fleet"
	"adze/internal/fleet/batch"
)

// TestAWorkerIsThereAsLongAsItRuns with its labels, version and what it does.
func TestAWorkerIsThereAsLongAsItRuns(t *testing.T) {
	y := newYard(t, 1, func(s *fleet.Submission) { s.Label = "core" })
	if none, err := y.Unattended(t.Context(), []string{"core"}); err != nil || len(none) != 1 {
		t.Fatal(none, err)
	}
	taken, wake := make(chan bool), make(chan bool)
	stop := y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		close(taken)
		<-wake
		return done(j, ""), "", nil
	}, func(w *fleet.Worker) { w.Labels, w.Version = []string{"core"}, "7.8.9" })
	<-taken
	var there []fleet.Presence
	for end := time.Now().Add(patience); len(there) != 1 || there[0].Running != 1; {
		var err error
		if there, err = y.Workers(t.Context()); err != nil || time.Now().After(end) {
			t.Fatal(there, err)
		}
	}
	if p := there[0]; p.Name != "w" || p.Version != "7.8.9" || p.Jobs != 2 || !p.Takes("core") || p.Takes("other") || time.Since(p.Seen) > patience {
		t.Errorf("%+v", p)
	}
	if none, err := y.Unattended(t.Context(), []string{"core", "web", "web"}); err != nil || len(none) != 1 || none[0] != "web" {
		t.Error(none, err)
	}
	close(wake)
	stop()
	if there, err := y.Workers(t.Context()); err != nil || len(there) != 0 {
		t.Error(there, err)
	}
}

// TestAWorkerRefusesWhatItDoesNotKnow: a field of another version, wherever it is, is named, and
// the task is neither done nor lost.
func TestAWorkerRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, of := range []string{"batch.", "ask."} {
		y := newYard(t, 9, func(s *fleet.Submission) { s.Version = "9.9" })
		runs, err := y.List(t.Context(), y.sub.ID)
		if err != nil {
			t.Fatal(err)
		}
		key := of + y.sub.ID
		if of == "ask." {
			key = of + runs[8].ID // whose ticket is sent later
		}
		before, err := y.Runs.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]any{}
		if err := json.Unmarshal(before.Value, &fields); err != nil {
			t.Fatal(err)
		}
		fields["on_the_moon"] = true
		raw, _ := json.Marshal(fields)
		revision, err := y.Runs.Put(t.Context(), key, raw, before.Revision)
		if err != nil {
			t.Fatal(err)
		}
		stop := y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
			if of == "batch." || j.Run.ID == runs[8].ID {
				t.Errorf("%s was done", j.Run.ID)
			}
			return done(j, ""), "", nil
		}, func(w *fleet.Worker) { w.Version = "0.1" })
		says := ""
		for end := time.Now().Add(patience); !strings.Contains(says, `"on_the_moon"`); {
			there, err := y.Workers(t.Context())
			if err != nil || time.Now().After(end) {
				t.Fatal(there, err)
			}
			for _, p := range there {
				says = strings.Join(p.Refuses, " ")
			}
		}
		if !strings.Contains(says, "w (adze 0.1)") || !strings.Contains(says, "submitted by adze 9.9") {
			t.Error(says)
		}
		stop()
		now, err := y.Runs.Get(t.Context(), key)
		if err != nil || now.Revision != revision || !strings.Contains(string(now.Value), "on_the_moon") {
			t.Errorf("%s, %v", now.Value, err)
		}
		again, _ := y.List(t.Context(), y.sub.ID)
		if of == "batch." && !slices.ContainsFunc(again, func(r fleet.Run) bool { return strings.Contains(r.Reason, "on_the_moon") }) {
			t.Errorf("%+v", again)
		}
		if _, err := y.Runs.Put(t.Context(), key, before.Value, now.Revision); err != nil {
			t.Fatal(err)
		}
		y.work("newer", func(_ context.Context, j fleet.Job) (batch.Result, string, error) { return done(j, ""), "", nil }, nil)
		for _, r := range y.until() {
			if !r.Result.OK {
				t.Errorf("%+v", r)
			}
		}
	}
	ticket, err := fleet.ParseTicket([]byte(`{"run":"b.a","round":1,"label":"core","priority":2,"at_noon":true}`))
	if err != nil || ticket.Run != "b.a" || ticket.Unknown == nil || !strings.Contains(ticket.Unknown.Error(), `"at_noon"`) {
		t.Errorf("%+v, %v", ticket, err)
	}
}

// TestADeadTaskTellsHowFarItCame: what it had changed when it was saved, what it cost and its
// turns.
func TestADeadTaskTellsHowFarItCame(t *testing.T) {
	y := newYard(t, 1, func(s *fleet.Submission) { s.Attempts = 1 })
	cost := 0.75
	y.work("w", func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
		j.Watch(batch.State{Turns: 3, Calls: 4, Cost: &cost})
		if err := j.Away.Keep(ctx, batch.Progress{Base: "abc", Saved: "blob", Files: 2}); err != nil {
			t.Error(err)
		}
		return batch.Result{Crashed: true, Cause: "internal", Message: "it crashed", Cost: &cost}, "", nil
	}, nil)
	r := y.until()[0]
	out := r.Outcome()
	if r.State != fleet.Dead || r.Patch != "blob" || out.Patch == "" || out.Changed != 2 || out.Turns != 3 || out.Cost == nil || *out.Cost != cost || out.Base != "abc" {
		t.Errorf("%+v: %+v", r, out)
	}
}
