package retention_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/fleet/natsclient"
	"adze/internal/fleet/natsqueue"
	"adze/internal/sessiondb/natsstore"
	"adze/internal/sessiondb/retention"
	"adze/internal/testkit/natstest"
	"adze/session"
)

// TestAServerLetsGoWhatIsOver for long, and nothing that waits, runs or is open.
func TestAServerLetsGoWhatIsOver(t *testing.T) {
	conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: natstest.Start(t, natstest.Options{Lazy: true}).URL(), Wait: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, err := natsqueue.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	open := func() *natsstore.Store {
		s, err := natsstore.Open(t.Context(), conn, false, natsstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	write := func(s *natsstore.Store, id, parent string, at time.Time) {
		t.Helper()
		start := session.Start{Version: "1", Cwd: "/x"}
		if parent != "" {
			start.Parent, start.Agent = session.ID(parent), "helper"
		}
		raw, _ := json.Marshal(start)
		big, _ := json.Marshal(strings.Repeat(id, 100_000))
		if err := s.Append(t.Context(), session.ID(id), session.Entry{Type: session.StartEntry, Time: at, Data: raw}, session.Entry{Type: session.OutcomeEntry, Time: at, Data: big}); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC()
	long := strings.Repeat("long ", 30_000)
	submit := func(task string) (string, session.ID) {
		t.Helper()
		s := fleet.Submission{Tasks: []batch.Task{{ID: task, Repo: "https://h/r.git", Prompt: long + task}}}
		if err := s.Prepare(now); err != nil {
			t.Fatal(err)
		}
		if err := c.Submit(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
		runs, err := c.List(t.Context(), s.ID)
		if err != nil || len(runs) != 1 {
			t.Fatal(runs, err)
		}
		return s.ID, runs[0].Sessions()[0]
	}
	over, ofOver := submit("over")
	waits, ofWaits := submit("waits")
	runs, _ := c.List(t.Context(), over)
	if _, err := c.Cancel(t.Context(), runs, "test"); err != nil {
		t.Fatal(err)
	}
	closing := open()
	write(closing, string(ofOver), "", now)
	write(closing, "sub-of-over", string(ofOver), now)
	write(closing, string(ofWaits), "", now)
	write(closing, "unused", "", now)
	write(closing, "sub-of-unused", "unused", now)
	if err := closing.Close(); err != nil {
		t.Fatal(err)
	}
	write(open(), "held", "", now)
	logs := open()
	server := retention.Server{Runs: c, Logs: logs}
	rules := retention.Rules{Age: 30 * 24 * time.Hour}
	ids := func() (out []string) {
		heads, err := logs.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			out = append(out, string(h.ID))
		}
		slices.Sort(out)
		return out
	}
	if gone, err := server.Expire(t.Context(), rules, now.Add(29*24*time.Hour)); err != nil || len(gone.Batches)+len(gone.Sessions)+gone.Contents > 0 {
		t.Fatalf("%+v, %v", gone, err)
	}
	if gone, err := server.Expire(t.Context(), retention.Rules{}, now.Add(1e6*time.Hour)); err != nil || len(gone.Batches)+len(gone.Sessions)+gone.Contents > 0 {
		t.Fatalf("without a rule: %+v, %v", gone, err)
	}
	gone, err := server.Expire(t.Context(), rules, now.Add(31*24*time.Hour))
	if err != nil || !slices.Equal(gone.Batches, []string{over}) || len(gone.Sessions) != 4 || gone.Contents != 5 { // four logs and a task
		t.Errorf("%+v, %v", gone, err)
	}
	if want := []string{"held", string(ofWaits)}; !slices.Equal(ids(), want) {
		t.Errorf("%v are left, want %v", ids(), want)
	}
	if _, err := c.Order(t.Context(), over); !errors.Is(err, fleet.ErrNone) {
		t.Error(err)
	}
	left, err := c.List(t.Context(), waits)
	if err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
	if task, err := c.Task(t.Context(), left[0]); err != nil || task.Prompt != long+"waits" {
		t.Error(err)
	}
	if _, err := logs.Load(t.Context(), ofWaits); err != nil {
		t.Error(err)
	}
	if _, err := logs.Load(t.Context(), ofOver); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	if taken, err := c.Queue.Take(t.Context(), nil); err != nil || !strings.HasPrefix(taken.Ticket().Run, waits) {
		t.Errorf("%+v, %v", taken, err)
	}
	if _, err := c.Queue.Take(t.Context(), nil); !errors.Is(err, fleet.ErrNone) {
		t.Error(err)
	}
}
