package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/batch"
	"adze/internal/fleet"
	"adze/internal/fleet/fleettest"
)

// TestASubmissionOutlivesTheChoiceOfALeader: answers that are lost, and a server that is away for some seconds, cost time; no task is
// submitted twice.
func TestASubmissionOutlivesTheChoiceOfALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fleettest.NewMemory()
		c := server.Cluster()
		s := fleet.Submission{Tasks: []batch.Task{{ID: "a", Repo: "r", Prompt: "x", Line: 1}, {ID: "b", Repo: "r", Prompt: "x", Line: 2}}}
		if err := s.Prepare(time.Now()); err != nil {
			t.Fatal(err)
		}
		server.Swallow(3) // of the order and of both records
		server.Refuse(fleet.ErrAway)
		time.AfterFunc(7*time.Second, func() { server.Refuse(nil) })
		if err := c.Submit(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
		runs, err := c.List(t.Context(), s.ID)
		if err != nil || len(runs) != 2 {
			t.Errorf("%d runs, %v", len(runs), err)
		}
		sizes, err := c.Queue.Sizes(t.Context())
		if err != nil || len(sizes) != 1 || sizes[0].Waiting != 2 {
			t.Errorf("the queue has %+v, %v", sizes, err)
		}
		server.Refuse(fleet.ErrAway)
		if err := c.Submit(t.Context(), &s); err == nil {
			t.Error("a server that stays away was waited for, and nothing was said")
		}
	})
}
