package fleet_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/testkit/fleettest"
)

// TestASubmissionOutlivesTheChoiceOfALeader: answers that are lost, and a server that is away for
// some seconds, cost time; no task is submitted twice.
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

// hanging is a store of contents whose answers do not come for a while: a leader was lost that was
// sending.
type hanging struct {
	fleet.Blobs
	left int
}

func (h *hanging) Fetch(ctx context.Context, name string, to io.Writer) error {
	if h.left--; h.left < 0 {
		return h.Blobs.Fetch(ctx, name, to)
	}
	_, _ = io.WriteString(to, "half a pa")
	wait, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	<-wait.Done()
	return fleet.ErrAway
}

func TestAPatchIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fleettest.NewMemory().Cluster()
		name, err := c.Blobs.Keep(t.Context(), strings.NewReader("a patch"))
		if err != nil {
			t.Fatal(err)
		}
		c.Blobs = &hanging{c.Blobs, 2}
		var got strings.Builder
		began := time.Now()
		if err := c.Patch(t.Context(), fleet.Run{Patch: name}, &got); err != nil || got.String() != "a patch" {
			t.Errorf("%q, %v", got.String(), err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}
