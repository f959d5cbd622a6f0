package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
)

func TestTemporaryFailuresAreAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &session.ProviderError{Kind: session.RateError, Status: 429, Message: "slow down", RetryAfter: 30 * time.Second}
		r := newRig(t, only(session.Done{Err: busy}), says(text("now")))
		start := time.Now()
		res := r.prompt(t, "go")
		wantCause(t, res, session.CauseDone)
		wantText(t, "events", r.kinds(), "user retry assistant result:done")
		if waited := time.Since(start); waited != 30*time.Second {
			t.Errorf("waited %s, want the 30 s that were asked for", waited)
		}
	})
}

// TestAFinalFailureIsNotAskedAgain: some providers say so, with x-should-retry.
func TestAFinalFailureIsNotAskedAgain(t *testing.T) {
	r := newRig(t, only(session.Done{Err: &session.ProviderError{Kind: session.RateError, Message: "used up", Final: true}}))
	wantCause(t, r.prompt(t, "go"), session.CauseProvider)
	wantText(t, "events", r.kinds(), "user result:provider")
}

func TestRetriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := only(session.Done{Err: &session.ProviderError{Kind: session.NetworkError, Message: "no route", RetryAfter: time.Hour}})
		r := newRig(t, down, down, down, down, down, down)
		start := time.Now()
		wantCause(t, r.prompt(t, "go"), session.CauseProvider)
		if len(r.model.requests) != 5 {
			t.Errorf("%d attempts, want 5", len(r.model.requests))
		}
		if waited := time.Since(start); waited > 20*time.Minute {
			t.Errorf("waited %s: what a provider asks for is not capped", waited)
		}
	})
}

func TestALimitThatEndsATurnTellsItsWait(t *testing.T) {
	for asked, kind := range map[time.Duration]session.ErrorKind{9 * time.Minute: session.RateError, 0: session.RateError, time.Hour: session.ServerError} {
		synctest.Test(t, func(t *testing.T) {
			busy := only(session.Done{Err: &session.ProviderError{Kind: kind, Message: "slow down", RetryAfter: asked}})
			res := newRig(t, busy, busy, busy, busy, busy).prompt(t, "go")
			wantCause(t, res, session.CauseProvider)
			if limited := kind == session.RateError; limited != (res.Limited != nil) || limited && *res.Limited != asked {
				t.Errorf("%s, %v: told %v", kind, asked, res.Limited)
			}
		})
	}
}

// What a provider wants no request for longer than a turn waits is asked once.
func TestALongLimitEndsTheTurn(t *testing.T) {
	for asked, want := range map[time.Duration]string{
		5 * time.Minute: "", 6 * time.Minute: "no request for 6 minutes", 5 * time.Hour: "no request for 5 hours",
	} {
		synctest.Test(t, func(t *testing.T) {
			busy := &session.ProviderError{Kind: session.RateError, Message: "slow down", Hint: "wait a little", RetryAfter: asked}
			r := newRig(t, only(session.Done{Err: busy}), says(text("now")))
			start := time.Now()
			res := r.prompt(t, "go")
			if want == "" {
				wantCause(t, res, session.CauseDone)
				if waited := time.Since(start); waited != asked {
					t.Errorf("waited %s, want %s", waited, asked)
				}
				return
			}
			wantCause(t, res, session.CauseProvider)
			if waited := time.Since(start); waited != 0 || len(r.model.requests) != 1 || !strings.Contains(res.Hint, want) || res.Message != "slow down" {
				t.Errorf("%s: waited %s for %d requests: %q, %q", asked, waited, len(r.model.requests), res.Message, res.Hint)
			}
		})
	}
}

// cutAfter is an answer that breaks off.
func cutAfter(chunks ...session.Chunk) func(context.Context, func(session.Chunk) bool) {
	return only(append(chunks, session.Done{Err: &session.ProviderError{Kind: session.NetworkError, Message: "cut"}})...)
}

// What was shown of an answer that broke off is void: the whole one takes its place in the log,
// too.
func TestABrokenAnswerIsAskedAgain(t *testing.T) {
	for name, broken := range map[string]func(context.Context, func(session.Chunk) bool){
		"a cut connection": cutAfter(text("half")),
		"an early end":     only(text("half"), session.Done{Err: &session.ProviderError{Kind: session.BadResponse, Cut: true, Message: "ended"}}),
		"inside a call":    cutAfter(session.Forming{ID: "c", Name: "look", Bytes: 9}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, broken, says(text("whole")))
				wantCause(t, r.prompt(t, "go"), session.CauseDone)
				wantText(t, "events", r.kinds(), "user retry assistant result:done")
				wantText(t, "log", r.shelf.types(), "start message request message end")
				for _, e := range r.events {
					if e, ok := e.(session.Retry); ok && (e.Attempt != 2 || e.Of != 3) {
						t.Errorf("attempt %d of %d", e.Attempt, e.Of)
					}
				}
				if r.shelf.has(session.MessageEntry, "half") || !r.shelf.has(session.MessageEntry, "whole") {
					t.Error("the log does not hold the whole answer alone")
				}
			})
		})
	}
}

// An answer that breaks off every time costs three, not five; one that is no wire format costs one.
func TestBrokenAnswersEnd(t *testing.T) {
	bad := only(text("half"), session.Done{Err: &session.ProviderError{Kind: session.BadResponse, Message: "malformed"}})
	refused := only(session.Done{Err: &session.ProviderError{Kind: session.NetworkError, Message: "refused"}})
	half := cutAfter(text("half"))
	stumbled := only(session.Done{Err: &session.ProviderError{Kind: session.ServerError, Message: "it stumbled"}, Usage: session.Usage{Output: 900}})
	for name, c := range map[string]struct {
		step func(context.Context, func(session.Chunk) bool)
		rest func(context.Context, func(session.Chunk) bool)
		want int
	}{
		"cut":                        {half, half, 3},
		"stumbled":                   {stumbled, stumbled, 3},
		"malformed":                  {bad, bad, 1},
		"cut once, then not reached": {half, refused, 5},
		"a call, then a cut":         {cutAfter(call("c", "look", `{}`)), half, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.step, c.rest, c.rest, c.rest, c.rest, c.rest)
				wantCause(t, r.prompt(t, "go"), session.CauseProvider)
				if len(r.model.requests) != c.want {
					t.Errorf("%d requests, want %d", len(r.model.requests), c.want)
				}
			})
		})
	}
}

// A session that ends while a broken answer waits to be asked again does not bring back its text.
func TestAVoidAnswerStaysVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ context.Context, yield func(session.Chunk) bool) {
			yield(text("half"))
			time.Sleep(2 * time.Second) // so that it is saved as unfinished
			yield(text("more"))
			yield(session.Done{Err: &session.ProviderError{Kind: session.NetworkError, Message: "cut"}})
		}
		r := newRig(t, slow, says(text("whole")))
		r.config.Now = time.Now
		ctx, cancel := context.WithCancelCause(t.Context())
		r.config.Observe = func(e session.Event) {
			if _, ok := e.(session.Retry); ok {
				cancel(session.ErrInterrupted)
			}
		}
		session.New(r.config).Prompt(ctx, session.Input{Text: "go"})
		if !r.shelf.has(session.FragmentEntry, "half") || r.shelf.has(session.MessageEntry, "half") {
			t.Fatalf("the log is %s", r.shelf.types())
		}
		s, err := session.Resume(t.Context(), r.config)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range s.History() {
			if strings.Contains(m.Text(), "half") {
				t.Errorf("%q came back", m.Text())
			}
		}
	})
}

func TestBackOffGrowsAndIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := only(session.Done{Err: &session.ProviderError{Kind: session.ServerError, Message: "down"}})
		r := newRig(t, down, down, down, down, down)
		var delays []time.Duration
		r.config.Observe = func(e session.Event) {
			if e, ok := e.(session.Retry); ok {
				delays = append(delays, e.Delay)
			}
		}
		start := time.Now()
		session.New(r.config).Prompt(t.Context(), session.Input{Text: "go"})
		var sum time.Duration
		low, high := 250*time.Millisecond, 750*time.Millisecond // half a second, by half more or less
		for i, d := range delays {
			if d < low || d > high {
				t.Errorf("wait %d is %s, want between %s and %s", i+1, d, low, high)
			}
			sum, low, high = sum+d, low*3/2, high*3/2
		}
		if len(delays) != 4 || time.Since(start) != sum {
			t.Errorf("%d waits of %s, but %s went by", len(delays), sum, time.Since(start))
		}
	})
}

// A wait ends with the turn, at once.
func TestAWaitEndsWithItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := only(session.Done{Err: &session.ProviderError{Kind: session.RateError, Message: "slow down", RetryAfter: 30 * time.Second}})
		r := newRig(t, busy, says(text("now")))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(session.ErrInterrupted) })
		start := time.Now()
		wantCause(t, session.New(r.config).Prompt(ctx, session.Input{Text: "go"}), session.CauseInterrupted)
		if took := time.Since(start); took != 3*time.Second || len(r.model.requests) != 1 {
			t.Errorf("%d requests, ended after %s", len(r.model.requests), took)
		}
	})
}

// An observer hears of each request once: those that failed, what they used, how long they took.
func TestEachRequestIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ context.Context, yield func(session.Chunk) bool) {
			time.Sleep(2 * time.Second)
			yield(text("hello"))
			time.Sleep(time.Second)
			yield(session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: 7, Output: 3}})
		}
		busy := only(session.Done{Err: &session.ProviderError{Kind: session.RateError, Status: 429, Message: "slow down"}})
		r := newRig(t, busy, cutAfter(text("half")), slow)
		r.config.Now = time.Now
		wantCause(t, r.prompt(t, "go"), session.CauseDone)
		var told []session.Requested
		for _, e := range r.events {
			if e, ok := e.(session.Requested); ok {
				told = append(told, e)
			}
		}
		if len(told) != 3 || told[0].Kind != session.RateError || told[1].Kind != session.NetworkError || told[2].Kind != "" {
			t.Fatalf("told of %+v", told)
		}
		last := told[2]
		if last.Provider != "fake" || last.Stop != session.StopEnd || last.Usage.Output != 3 || last.First != 2*time.Second || last.Duration != 3*time.Second {
			t.Errorf("told of %+v", last)
		}
	})
}
