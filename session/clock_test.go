package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tool"
)

// TestAPersonsTimeIsNotTheTurns: with a budget of a minute a user may think for an hour, and the
// work still has the whole minute, but no more.
func TestAPersonsTimeIsNotTheTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := 30 * time.Second
		run := func(ctx context.Context, _ string) (string, error) {
			select {
			case <-time.After(work):
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		r := rigWith(t, []tool.Tool{noting("change", tool.Write, run)},
			says(call("c1", "change", `{}`)), says(call("c2", "change", `{}`)), says(text("ready")))
		r.config.Now = time.Now
		r.config.Limits = session.Limits{Time: time.Minute + time.Second}
		told := 0
		r.config.Waits = func() func() { told++; return func() { told += 10 } }
		r.config.Gate = tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
			defer q.Waits()()
			time.Sleep(time.Hour)
			return tool.Decision{Allow: true, Asked: true}, nil
		})
		res := r.prompt(t, "go")
		wantCause(t, res, session.CauseDone)
		if res.Duration != time.Minute || told != 22 {
			t.Errorf("the turn took %s, told %d", res.Duration, told)
		}
		for _, e := range r.events {
			end, ok := e.(session.ToolEnd)
			if !ok {
				continue
			}
			if o := end.Outcome; o.Duration != work || o.Record.Waited != time.Hour {
				t.Errorf("%s took %s and waited %s", o.Call, o.Duration, o.Record.Waited)
			}
		}

		work = time.Hour
		r.model.steps = append(r.model.steps, says(call("c3", "change", `{}`)))
		start := time.Now()
		wantCause(t, r.prompt(t, "more"), session.CauseBudget)
		if took := time.Since(start); took != time.Hour+time.Minute+time.Second {
			t.Errorf("the budget ended the turn after %s", took)
		}
	})
}
