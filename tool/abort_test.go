package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/tool"
)

func TestAbortBeforeExec(t *testing.T) {
	var j journal
	r, one := journaled(&j, gate)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := r.Exec(ctx, hydrateOne(t, r, setOf(t, one), `{"text":"a"}`))
	wantStatus(t, o, tool.Aborted, tool.CodeAborted)
	if o.Output != "aborted" || len(j.all()) != 1 {
		t.Errorf("output %q, steps %v", o.Output, j.all())
	}
}

func TestAbortWhileAsking(t *testing.T) {
	for name, answer := range map[string]tool.Decision{"gate gives up": {}, "gate allows too late": {Allow: true}} {
		t.Run(name, func(t *testing.T) {
			var ran []sayArgs
			ctx, cancel := context.WithCancel(t.Context())
			r := &tool.Runner{Gate: tool.GateFunc(func(ctx context.Context, _ tool.Question) (tool.Decision, error) {
				cancel()
				<-ctx.Done()
				if answer.Allow {
					return answer, nil
				}
				return answer, ctx.Err()
			})}
			o := r.Exec(ctx, hydrateOne(t, r, setOf(t, say("x", running(recording(&ran)))), `{"text":"a"}`))
			wantStatus(t, o, tool.Aborted, tool.CodeAborted)
			if len(ran) > 0 {
				t.Error("it ran")
			}
		})
	}
}

func TestAbortWhileTheIntentIsSaved(t *testing.T) {
	for _, failing := range []bool{false, true} {
		var ran []sayArgs
		ctx, cancel := context.WithCancel(t.Context())
		r := allowing()
		r.Intent = func(ctx context.Context, _ tool.Record) error {
			cancel()
			if failing {
				return ctx.Err()
			}
			return nil
		}
		o := r.Exec(ctx, hydrateOne(t, r, setOf(t, say("x", writing, running(recording(&ran)))), `{"text":"a"}`))
		wantStatus(t, o, tool.Aborted, tool.CodeAborted)
		if len(ran) > 0 {
			t.Error("it ran")
		}
	}
}

func TestAbortWhileRunning(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := execWith(t, ctx, running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		cancel()
		<-ctx.Done()
		return tool.Result[sayMeta]{Output: "half"}, fmt.Errorf("read: %w", ctx.Err())
	}))
	wantStatus(t, o, tool.Aborted, tool.CodeAborted)
	if o.Output != "half\nread: context canceled" {
		t.Errorf("output %q", o.Output)
	}
}

func TestAbortTooLateIsCompleted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := execWith(t, ctx, running(func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error) {
		cancel()
		return tool.Result[sayMeta]{Output: "whole"}, nil
	}))
	wantStatus(t, o, tool.Completed, "")
}

func TestAbortByDeadlineSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		o := execWith(t, ctx, running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (r tool.Result[sayMeta], err error) {
			<-ctx.Done()
			return r, ctx.Err()
		}))
		wantStatus(t, o, tool.Aborted, tool.CodeAborted)
		if o.Output != "aborted: the time is up" || o.Duration != time.Minute {
			t.Errorf("output %q after %s", o.Output, o.Duration)
		}
	})
}

// execWith runs one changed tool that everything allows.
func execWith(t *testing.T, ctx context.Context, changes ...func(*sayConfig)) tool.Outcome {
	t.Helper()
	r := allowing()
	return r.Exec(ctx, hydrateOne(t, r, setOf(t, say("x", changes...)), `{"text":"a"}`))
}

func TestAbortGivesUpOnADeafTool(t *testing.T) {
	for _, grace := range []time.Duration{0, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			release := make(chan struct{})
			var late tool.Context[sayMeta]
			var events journal
			r := allowing()
			r.Grace = grace
			r.Emit = func(e tool.Event) { events.add("%s", e.Kind) }
			h := hydrateOne(t, r, setOf(t, say("x", running(func(_ context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
				late = c
				c.Metadata("first", sayMeta{Said: 1})
				<-release
				c.Metadata("too late", sayMeta{Said: 2})
				return tool.Result[sayMeta]{Output: "too late"}, nil
			}))), `{"text":"a"}`)
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			o := r.Exec(ctx, h)
			want := grace
			if grace == 0 {
				want = 2 * time.Second
			}
			if took := time.Since(start); took != time.Second+want {
				t.Errorf("gave up after %s", took)
			}
			wantStatus(t, o, tool.Aborted, tool.CodeAborted)
			if !strings.Contains(o.Output, "did not stop within "+want.String()) || string(o.Metadata) != `{"said":1}` {
				t.Errorf("output %q, metadata %s", o.Output, o.Metadata)
			}
			close(release)
			synctest.Wait()
			if err := late.Ask(context.Background(), tool.Need{Permission: tool.Write, Target: "x"}); !errors.Is(err, tool.ErrDenied) {
				t.Errorf("a call that is over was allowed more: %v", err)
			}
			if got := events.all(); len(got) != 2 {
				t.Errorf("events %v", got)
			}
			if len(o.Record.Needs) != 1 {
				t.Errorf("the record changed after the end: %+v", o.Record.Needs)
			}
		})
	}
}

func TestAskWhileRunning(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]bool{}
	r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range q.Needs {
			asked[n.Target+string(n.Reach)] = true
			if n.Target == "target7" {
				return tool.Decision{Reason: "not seven"}, nil
			}
		}
		return tool.Decision{Allow: true}, nil
	})}
	o := r.Exec(t.Context(), hydrateOne(t, r, setOf(t, say("x", running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		errs := make([]error, 20)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				c.Metadata("asking", sayMeta{Said: i})
				errs[i] = c.Ask(ctx, tool.Need{Permission: tool.Network, Target: fmt.Sprint("target", i)})
			})
		}
		wg.Wait()
		return tool.Result[sayMeta]{}, errors.Join(errs...)
	}))), `{"text":"a"}`))
	wantStatus(t, o, tool.Denied, tool.CodeDenied)
	if !strings.Contains(o.Output, "denied: not seven.") {
		t.Errorf("output %q", o.Output)
	}
	if len(asked) != 21 || len(o.Record.Needs) != 21 || len(o.Record.Decisions) != 21 {
		t.Errorf("%d asked, %d needs, %d decisions", len(asked), len(o.Record.Needs), len(o.Record.Decisions))
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	o := execWith(t, t.Context(), running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		err := c.Ask(ctx, tool.Need{Target: "x"})
		if !errors.Is(err, context.Canceled) || errors.Is(err, tool.ErrDenied) {
			t.Errorf("error %v", err)
		}
		return tool.Result[sayMeta]{}, nil
	}))
	if n := len(o.Record.Decisions); n != 1 {
		t.Errorf("%d decisions; an answer that came after the abort is none", n)
	}
}

func TestAskThatAToolSwallows(t *testing.T) {
	n := 0
	r := &tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
		n++
		return tool.Decision{Allow: n == 1, Reason: "no"}, nil
	})}
	o := r.Exec(t.Context(), hydrateOne(t, r, setOf(t, say("x", running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		if err := c.Ask(ctx, tool.Need{Target: "more"}); !errors.Is(err, tool.ErrDenied) {
			t.Errorf("error %v", err)
		}
		return tool.Result[sayMeta]{Output: "went on without it"}, nil
	}))), `{"text":"a"}`))
	wantStatus(t, o, tool.Completed, "")
	if len(o.Record.Decisions) != 2 || o.Record.Decisions[1].Allow {
		t.Errorf("decisions %+v", o.Record.Decisions)
	}
}

// update is one live update and when it came.
type update struct {
	at    time.Duration
	title string
	meta  string
}

// streamed runs a tool under a synthetic clock and returns its updates.
func streamed(t *testing.T, run func(tool.Context[sayMeta])) (updates []update, took time.Duration) {
	t.Helper()
	start := time.Now()
	var mu sync.Mutex
	r := allowing()
	r.Emit = func(e tool.Event) {
		if e.Kind == tool.Updated {
			mu.Lock()
			defer mu.Unlock()
			updates = append(updates, update{time.Since(start), e.Title, string(e.Metadata)})
		}
	}
	r.Exec(t.Context(), hydrateOne(t, r, setOf(t, say("x", running(func(_ context.Context, c tool.Context[sayMeta], _ sayArgs) (r tool.Result[sayMeta], err error) {
		run(c)
		return r, nil
	}))), `{"text":"a"}`))
	took = time.Since(start)
	time.Sleep(time.Minute) // synthetic: anything after the end would show now
	mu.Lock()
	defer mu.Unlock()
	return updates, took
}

func TestLiveIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3000
		updates, took := streamed(t, func(c tool.Context[sayMeta]) {
			for i := range n {
				c.Metadata(fmt.Sprint("step ", i), sayMeta{Said: i})
				time.Sleep(time.Millisecond)
			}
			c.Metadata("last", sayMeta{Said: n})
		})
		for i := range updates {
			within := 0
			for _, u := range updates[i:] {
				if u.at < updates[i].at+time.Second {
					within++
				}
			}
			if within > 20 {
				t.Errorf("%d updates in the second after %s", within, updates[i].at)
			}
		}
		if len(updates) < 50 {
			t.Errorf("only %d updates in 3 s", len(updates))
		}
		if last := updates[len(updates)-1]; last.title != "last" || last.meta != fmt.Sprintf(`{"said":%d}`, n) || last.at > took {
			t.Errorf("last %+v, the call took %s", last, took)
		}
	})
}

func TestLiveFirstComesAtOnceAndTheLastAlways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates, _ := streamed(t, func(c tool.Context[sayMeta]) {
			c.Metadata("a", sayMeta{Said: 1})
			time.Sleep(time.Millisecond)
			c.Metadata("b", sayMeta{Said: 2})
			c.Metadata("c", sayMeta{Said: 3})
			time.Sleep(time.Second)
			c.Metadata("d", sayMeta{Said: 4})
			time.Sleep(time.Millisecond)
			c.Metadata("e", sayMeta{Said: 5})
		})
		var got []string
		for _, u := range updates {
			got = append(got, fmt.Sprint(u.at, " ", u.title))
		}
		if want := "0s a, 55ms c, 1.001s d, 1.002s e"; strings.Join(got, ", ") != want {
			t.Errorf("updates %v, want %s", got, want)
		}
	})
}

func TestLiveNothingAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates, took := streamed(t, func(c tool.Context[sayMeta]) {
			go func() {
				for range 100 {
					time.Sleep(10 * time.Millisecond)
					c.Metadata("from a goroutine", sayMeta{})
				}
			}()
			time.Sleep(200 * time.Millisecond)
		})
		for _, u := range updates {
			if u.at > took {
				t.Errorf("update at %s, the call took %s", u.at, took)
			}
		}
		if len(updates) == 0 {
			t.Error("no updates")
		}
	})
}

func TestLivePanicOnTheTimerIsContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := allowing()
		one := tool.Define("x", tool.Config[sayArgs, sullen]{Redact: tool.Expose(),
			Run: func(_ context.Context, c tool.Context[sullen], _ sayArgs) (tool.Result[sullen], error) {
				c.Metadata("t", sullen{"error"})
				c.Metadata("t", sullen{"panic"})
				time.Sleep(time.Second)
				return tool.Result[sullen]{}, errors.New("ended on its own")
			}})
		o := r.Exec(t.Context(), hydrateOne(t, r, setOf(t, one), `{"text":"a"}`))
		if o.Output != "ended on its own" {
			t.Errorf("output %q", o.Output)
		}
	})
}
