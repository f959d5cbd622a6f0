package tool_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/tool"
)

func checking(check func(context.Context, tool.Context[sayMeta], sayArgs) error) func(*sayConfig) {
	return func(c *sayConfig) { c.Check = check }
}

// asking is a gate that answers as a user, after it has looked whether the question makes sense.
func asking(asked *int, may func(tool.Need) bool) tool.Gate {
	return tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
		if err := q.Check(ctx, may); err != nil {
			return tool.Decision{Code: tool.CodeOf(err), Reason: "not asked"}, nil
		}
		*asked++
		return tool.Decision{Allow: true, Asked: true}, nil
	})
}

func TestNobodyIsAskedAboutWhatCannotWork(t *testing.T) {
	ran, asked := 0, 0
	r := &tool.Runner{Gate: asking(&asked, nil)}
	futile := say("x", writing, running(func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error) {
		ran++
		return tool.Result[sayMeta]{}, nil
	}), checking(func(_ context.Context, _ tool.Context[sayMeta], in sayArgs) error {
		return tool.Fail(tool.CodeStale, "%s has changed; read it again", in.Text)
	}))
	o := execOne(t, r, futile, `{"text":"a.txt"}`)
	wantStatus(t, o, tool.Failed, tool.CodeStale)
	if o.Output != "a.txt has changed; read it again" || asked != 0 || ran != 0 {
		t.Errorf("asked %d, ran %d, output %q", asked, ran, o.Output)
	}
	if d := o.Record.Decisions; len(d) != 1 || d[0].Asked || d[0].Allow || d[0].Code != tool.CodeStale || strings.Contains(d[0].Reason, "a.txt") {
		t.Errorf("decisions %+v", d)
	}
}

func TestACheckThatKnowsNothingLeavesTheQuestion(t *testing.T) {
	for name, check := range map[string]func(context.Context, tool.Context[sayMeta], sayArgs) error{
		"none":   nil,
		"fine":   func(context.Context, tool.Context[sayMeta], sayArgs) error { return nil },
		"panics": func(context.Context, tool.Context[sayMeta], sayArgs) error { panic("boom") },
		"not allowed to look": func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) error {
			if err := c.Ask(ctx, tool.Need{Permission: tool.Read, Target: "secret"}); err != nil {
				return err
			}
			return errors.New("the secret is 42")
		},
	} {
		asked := 0
		may := func(n tool.Need) bool { return n.Target != "secret" }
		o := execOne(t, &tool.Runner{Gate: asking(&asked, may)}, say("x", writing, checking(check)), `{"text":"a"}`)
		wantStatus(t, o, tool.Completed, "")
		if asked != 1 || len(o.Record.Needs) != 1 {
			t.Errorf("%s: asked %d times about %v", name, asked, o.Record.Needs)
		}
	}
}

func TestACheckIsMadeOnceAndNotByARunningCall(t *testing.T) {
	checks := 0
	gate := tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
		if q.Check != nil {
			checks++
		}
		return tool.Decision{Allow: true}, nil
	})
	asks := running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		return tool.Result[sayMeta]{}, c.Ask(ctx, tool.Need{Permission: tool.Write, Target: "b"})
	})
	wantStatus(t, execOne(t, &tool.Runner{Gate: gate}, say("x", asks), `{"text":"a"}`), tool.Completed, "")
	if checks != 1 {
		t.Errorf("%d questions had a check", checks)
	}
}

// hands is a clock that is moved by hand.
type hands struct {
	mu sync.Mutex
	at time.Time
}

func (h *hands) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hands) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

func TestWaitingForAPersonIsNoDuration(t *testing.T) {
	h := &hands{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	told := 0
	r := &tool.Runner{Now: h.now, Waits: func() func() { told++; return func() { told += 10 } }}
	r.Gate = tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		over := q.Waits()
		h.move(time.Hour)
		over()
		over()
		return tool.Decision{Allow: true, Asked: true}, nil
	})
	o := execOne(t, r, say("x", running(func(_ context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		h.move(time.Second)
		first, second := c.Waits(), c.Waits()
		h.move(time.Minute)
		first()
		h.move(time.Minute)
		second()
		return tool.Result[sayMeta]{}, nil
	})), `{"text":"a"}`)
	if o.Duration != time.Second || o.Record.Duration != time.Second || o.Record.Waited != time.Hour+2*time.Minute || told != 33 {
		t.Errorf("took %s (record %s), waited %s, told %d", o.Duration, o.Record.Duration, o.Record.Waited, told)
	}
}

func TestTheReasonOfANoIsThePersonsWord(t *testing.T) {
	gate := tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
		return tool.Decision{Asked: true, Reason: "the person said no: use make", Reply: "use make"}, nil
	})
	o := execOne(t, &tool.Runner{Gate: gate}, say("x"), `{"text":"a"}`)
	wantStatus(t, o, tool.Denied, tool.CodeDenied)
	if !strings.HasSuffix(o.Output, "says: use make") || strings.Contains(o.Output, "another way") {
		t.Errorf("output %q", o.Output)
	}
}
