package session_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tool"
)

func TestPromptStoresEverythingInOrder(t *testing.T) {
	r := newRig(t,
		says(text("I will "), text("look."), call("c1", "look", `{"text":"a"}`), call("c2", "change", `{"text":"b"}`)),
		says(text("Done.")))
	res := r.prompt(t, "do it")
	wantCause(t, res, session.CauseDone)
	wantText(t, "log", r.shelf.types(), "start message message outcome intent outcome message end")
	wantText(t, "events", r.kinds(), "user assistant end:c1 end:c2 assistant result:done")
	wantText(t, "text", res.Text, "Done.")
	if want := []string{"b"}; !slices.Equal(res.Changed, want) {
		t.Errorf("changed = %v, want %v", res.Changed, want)
	}
	if res.Steps != 2 || res.Usage["fake/m"] != (session.Usage{Input: 20, Output: 2}) {
		t.Errorf("steps %d, usage %+v", res.Steps, res.Usage)
	}
}

func TestEventsComeOnlyAfterTheirRecord(t *testing.T) {
	r := newRig(t, says(text("hm"), call("c1", "change", `{"text":"b"}`)), says(text("end")))
	shown := 0
	r.onSee = func(e session.Event) {
		switch e := e.(type) {
		case session.MessageDone:
			shown++
			if !r.shelf.has(session.MessageEntry, `"id":"`+e.Message.ID+`"`) {
				t.Errorf("message %s was shown before it was stored", e.Message.ID)
			}
		case session.ToolEnd:
			shown++
			if !r.shelf.has(session.OutcomeEntry, string(e.Outcome.Call)) {
				t.Errorf("outcome %s was shown before it was stored", e.Outcome.Call)
			}
		case session.TurnEnd:
			shown++
			if !r.shelf.has(session.EndEntry, "done") {
				t.Error("the result was shown before it was stored")
			}
		}
	}
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	if shown != 5 {
		t.Errorf("saw %d events with records, want 5", shown)
	}
}

// Each commit syncs the disk: the answer that ends a turn goes with its end, both or neither.
func TestTheLastAnswerAndTheEndAreOneCommit(t *testing.T) {
	r := newRig(t, says(text("all of it")))
	r.shelf.failAt = 3 // room for one entry after start and prompt
	wantCause(t, r.prompt(t, "go"), session.CauseStore)
	wantText(t, "log", r.shelf.types(), "start message")
	wantText(t, "events", r.kinds(), "user result:store")
}

func TestTheAnswerIsStoredBeforeItsCallsRun(t *testing.T) {
	var r *rig
	run := func(context.Context, string) (string, error) {
		if !r.shelf.has(session.MessageEntry, "c1") || !r.shelf.has(session.IntentEntry, "c1") {
			t.Error("the call ran before its message and its intent were stored")
		}
		return "ok", nil
	}
	r = rigWith(t, []tool.Tool{noting("change", tool.Write, run)}, says(call("c1", "change", `{}`)), says(text("end")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
}

func TestReadingCallsRunTogetherAndOthersAlone(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, 0
	both := make(chan struct{})
	var arrived sync.WaitGroup
	arrived.Add(2)
	go func() { arrived.Wait(); close(both) }()
	enter := func() {
		mu.Lock()
		defer mu.Unlock()
		running++
		most = max(most, running)
	}
	leave := func() { mu.Lock(); defer mu.Unlock(); running-- }
	look := func(ctx context.Context, s string) (string, error) {
		enter()
		defer leave()
		arrived.Done()
		select {
		case <-both: // each waits for the other: this ends only when they run together
			return s, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	change := func(_ context.Context, s string) (string, error) {
		enter()
		defer leave()
		mu.Lock()
		defer mu.Unlock()
		if running != 1 {
			t.Errorf("%d calls run beside a change", running)
		}
		return s, nil
	}
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, look), noting("change", tool.Write, change)},
		says(call("c1", "look", `{"text":"1"}`), call("c2", "look", `{"text":"2"}`), call("c3", "change", `{"text":"3"}`), call("c4", "change", `{"text":"4"}`)),
		says(text("end")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	want := []string{"c1 completed 1", "c2 completed 2", "c3 completed 3", "c4 completed 4"}
	if got := r.outcomes(t); !slices.Equal(got, want) {
		t.Errorf("outcomes = %v, want %v", got, want)
	}
	if most != 2 {
		t.Errorf("at most %d calls ran together, want 2", most)
	}
}

func TestOutcomesAreStoredInTheModelsOrder(t *testing.T) {
	second := make(chan struct{})
	run := func(_ context.Context, s string) (string, error) {
		if s == "2" {
			close(second)
			return s, nil
		}
		<-second // the first call ends after the second
		return s, nil
	}
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, run)},
		says(call("c1", "look", `{"text":"1"}`), call("c2", "look", `{"text":"2"}`)), says(text("end")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	wantText(t, "events", r.kinds(), "user assistant end:c1 end:c2 assistant result:done")
}

func TestEveryBadCallGetsAnAnswerAndTheLoopGoesOn(t *testing.T) {
	r := newRig(t,
		says(call("c1", "lok", `{}`), call("c2", "look", `{"text":`), call("c3", "look", `{"txt":"a"}`), call("c3", "look", `{"text":"again"}`)),
		says(text("sorry")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	got := r.outcomes(t)
	wants := []string{"there is no tool \"lok\"; did you mean look?", "not valid JSON", "did you mean \"text\"?", "used twice"}
	if len(got) != len(wants) {
		t.Fatalf("outcomes = %v", got)
	}
	for i, want := range wants {
		if !strings.Contains(got[i], " invalid ") || !strings.Contains(got[i], want) {
			t.Errorf("outcome %d = %q, want invalid with %q", i, got[i], want)
		}
	}
	last := r.model.requests[1].Messages
	if parts := last[len(last)-1].Parts; len(parts) != 4 {
		t.Errorf("the next request answers %d of 4 calls", len(parts))
	}
}

func TestAStopEndsTheTurnWithTheToolsWords(t *testing.T) {
	r := newRig(t, says(text("closing"), call("c1", "finish", `{"text":"all good"}`)))
	res := r.prompt(t, "go")
	wantCause(t, res, session.CauseDone)
	wantText(t, "text", res.Text, "did all good")
	if len(r.model.requests) != 1 {
		t.Errorf("%d requests, want 1", len(r.model.requests))
	}
}

func TestBudgets(t *testing.T) {
	again := says(call("c", "look", `{}`))
	for name, c := range map[string]struct {
		limits   session.Limits
		message  string
		outcomes int
	}{
		"steps":  {session.Limits{Steps: 2}, "2 model requests", 2},
		"calls":  {session.Limits{Calls: 1}, "1 calls", 1},
		"tokens": {session.Limits{Tokens: 15}, "22 tokens", 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, again, again, again, again)
			r.config.Limits = c.limits
			res := r.prompt(t, "go")
			wantCause(t, res, session.CauseBudget)
			if !strings.Contains(res.Message, c.message) || res.Hint == "" {
				t.Errorf("message %q, hint %q", res.Message, res.Hint)
			}
			if got := r.outcomes(t); len(got) != c.outcomes {
				t.Errorf("outcomes = %v, want %d", got, c.outcomes)
			}
		})
	}
}

func TestCallsOverTheBudgetAreAnsweredNotRun(t *testing.T) {
	ran := 0
	run := func(context.Context, string) (string, error) { ran++; return "ok", nil }
	r := rigWith(t, []tool.Tool{noting("change", tool.Write, run)}, says(call("c1", "change", `{}`), call("c2", "change", `{}`)))
	r.config.Limits = session.Limits{Calls: 1}
	wantCause(t, r.prompt(t, "go"), session.CauseBudget)
	if got := r.outcomes(t); ran != 1 || len(got) != 2 || !strings.Contains(got[1], "aborted not run") {
		t.Errorf("ran %d, outcomes %v", ran, got)
	}
}

func TestTheTimeBudgetEndsARunningCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }
		r := rigWith(t, []tool.Tool{noting("look", tool.Read, wait)}, says(call("c1", "look", `{}`)))
		r.config.Limits = session.Limits{Time: time.Minute}
		start := time.Now()
		wantCause(t, r.prompt(t, "go"), session.CauseBudget)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %s, want one minute", took)
		}
		if got := r.outcomes(t); len(got) != 1 || !strings.HasPrefix(got[0], "c1 aborted") {
			t.Errorf("outcomes = %v", got)
		}
	})
}

func TestAnAbortKeepsWhatWasSaid(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := newRig(t, func(ctx context.Context, yield func(session.Chunk) bool) {
		yield(text("half an ans"))
		cancel(session.ErrInterrupted)
		yield(session.Done{Stop: session.StopAborted, Err: ctx.Err()})
	})
	s := session.New(r.config)
	res := s.Prompt(ctx, session.Input{Text: "go"})
	wantCause(t, res, session.CauseInterrupted)
	wantText(t, "text", res.Text, "half an ans")
	if !r.shelf.has(session.MessageEntry, `"stop":"aborted"`) {
		t.Error("the partial answer is not in the log")
	}
	last := s.History()[len(s.History())-1]
	if last.Stop != session.StopAborted || len(last.Calls()) != 0 {
		t.Errorf("last message = %+v", last)
	}
}

func TestAnAbortAnswersEveryCall(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	run := func(ctx context.Context, _ string) (string, error) {
		cancel(session.ErrTerminated)
		<-ctx.Done()
		return "", ctx.Err()
	}
	r := rigWith(t, []tool.Tool{noting("change", tool.Write, run)},
		says(call("c1", "change", `{}`), call("c2", "change", `{}`), call("c3", "change", `{}`)))
	res := session.New(r.config).Prompt(ctx, session.Input{Text: "go"})
	wantCause(t, res, session.CauseTerminated)
	got := r.outcomes(t)
	if len(got) != 3 {
		t.Fatalf("outcomes = %v, want three", got)
	}
	for _, o := range got {
		if !strings.Contains(o, " aborted ") {
			t.Errorf("outcome %q, want aborted", o)
		}
	}
}

func TestTheStreamContractIsEnforced(t *testing.T) {
	done := session.Done{Stop: session.StopEnd}
	for name, c := range map[string]struct {
		chunks []session.Chunk
		cause  session.Cause
	}{
		"no end":                    {[]session.Chunk{text("half"), call("c1", "change", `{}`)}, session.CauseProvider},
		"more after the end":        {[]session.Chunk{done, text("more")}, session.CauseProvider},
		"two ends":                  {[]session.Chunk{text("a"), done, done}, session.CauseProvider},
		"a call, then a failure":    {[]session.Chunk{call("c1", "change", `{}`), session.Done{Err: &session.ProviderError{Kind: session.BadResponse, Message: "cut"}}}, session.CauseProvider},
		"text at the output limit":  {[]session.Chunk{text("half"), session.Done{Stop: session.StopLength}}, session.CauseTruncated},
		"a refusal":                 {[]session.Chunk{text("no"), session.Done{Stop: session.StopRefused}}, session.CauseRefused},
		"wrong key":                 {[]session.Chunk{session.Done{Err: &session.ProviderError{Kind: session.AuthError, Message: "bad key"}}}, session.CauseNoModel},
		"does not fit":              {[]session.Chunk{session.Done{Err: &session.ProviderError{Kind: session.ContextError, Message: "too long"}}}, session.CauseContext},
		"an error of no known kind": {[]session.Chunk{session.Done{Err: errors.New("odd")}}, session.CauseInternal},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, only(c.chunks...))
			res := r.prompt(t, "go")
			wantCause(t, res, c.cause)
			if got := r.outcomes(t); len(got) != 0 {
				t.Errorf("calls ran: %v", got)
			}
			if r.shelf.has(session.MessageEntry, `"kind":"call"`) {
				t.Error("a call of a failed answer was stored")
			}
		})
	}
}

// TestAFailingStoreStopsEffects fails the store after each number of entries and checks that
// nothing ran whose intent was not saved, and that the run says so.
func TestAFailingStoreStopsEffects(t *testing.T) {
	const whole = 8 // start message message intent outcome intent outcome message (then end)
	for n := 1; n <= whole; n++ {
		ran := 0
		run := func(context.Context, string) (string, error) { ran++; return "ok", nil }
		r := rigWith(t, []tool.Tool{noting("change", tool.Write, run)},
			says(call("c1", "change", `{}`)), says(call("c2", "change", `{}`)), says(text("end")))
		r.shelf.failAt = n
		res := r.prompt(t, "go")
		wantCause(t, res, session.CauseStore)
		intents := strings.Count(r.shelf.types(), "intent")
		if ran > intents {
			t.Errorf("fail at %d: %d effects with %d intents", n, ran, intents)
		}
		if !strings.HasSuffix(r.kinds(), "result:store") {
			t.Errorf("fail at %d: events %s", n, r.kinds())
		}
	}
}

func TestDenialsAreListed(t *testing.T) {
	r := newRig(t, says(call("c1", "change", `{"text":"x"}`)), says(text("fine")))
	r.config.Gate = tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		return tool.Decision{Rule: "deny write(x)", Layer: "user", Reason: "x is yours", Need: &q.Needs[0]}, nil
	})
	res := r.prompt(t, "go")
	wantCause(t, res, session.CauseDone)
	want := []session.Denial{{Call: "c1", Tool: "change", Need: &tool.Need{Permission: tool.Write, Target: "x"}, Rule: "deny write(x)", Reason: "x is yours"}}
	if !reflect.DeepEqual(res.Denied, want) {
		t.Errorf("denied = %+v", res.Denied)
	}
	wantText(t, "log", r.shelf.types(), "start message message decision outcome message end")
}

func TestUnfinishedTextIsSavedEverySecond(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newRig(t, func(_ context.Context, yield func(session.Chunk) bool) {
		for _, piece := range []string{"one ", "two ", "three"} {
			now = now.Add(600 * time.Millisecond)
			yield(text(piece))
		}
		yield(session.Done{Stop: session.StopEnd})
	})
	r.config.Now = func() time.Time { return now }
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	wantText(t, "log", r.shelf.types(), "start message fragment message end")
	if !r.shelf.has(session.FragmentEntry, "one two ") {
		t.Error("the fragment does not hold the text so far")
	}
}

func TestThePrefixOnlyGrows(t *testing.T) {
	r := newRig(t,
		says(text("a"), call("c1", "look", `{}`)), says(text("b"), call("c2", "look", `{}`), call("c3", "change", `{}`)), says(text("c")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	for i := 1; i < len(r.model.requests); i++ {
		before, after := r.model.requests[i-1], r.model.requests[i]
		if before.System != after.System || before.ToolsDigest != after.ToolsDigest {
			t.Errorf("request %d changed the system prompt or the tools", i+1)
		}
		if !reflect.DeepEqual(before.Messages, after.Messages[:len(before.Messages)]) {
			t.Errorf("request %d changed what was sent before", i+1)
		}
	}
}

func TestASecondPromptGoesOn(t *testing.T) {
	r := newRig(t, says(text("one")), says(text("two")))
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "first"}), session.CauseDone)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "second"}), session.CauseDone)
	wantText(t, "log", r.shelf.types(), "start message message end message message end")
	if n := len(r.model.requests[1].Messages); n != 3 {
		t.Errorf("the second prompt was sent with %d messages, want 3", n)
	}
}
