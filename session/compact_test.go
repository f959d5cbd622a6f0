package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/session"
	"adze/tool"
)

// window makes the model's context so small that a few messages fill it.
func (r *rig) window(tokens int) *rig {
	r.config.Sum = "sum it up"
	r.config.Window = func(string, string) int { return tokens }
	return r
}

// long is a text of so many tokens by the rule of the ledger.
func long(tokens int) string { return strings.Repeat("word", tokens) }

// compactions lists what the log holds, which events must have told.
func (r *rig) compactions(t *testing.T) (out []session.Compaction) {
	t.Helper()
	for _, e := range r.events {
		if c, ok := e.(session.Compacted); ok {
			out = append(out, c.Compaction)
		}
	}
	if n := strings.Count(r.shelf.types(), "compact"); n != len(out) {
		t.Errorf("%d compactions in the log, %d were told of", n, len(out))
	}
	return out
}

// shape is the roles of messages, with s for a summary; a request must not begin with outcomes or
// split calls from theirs.
func shape(t *testing.T, messages []session.Message) string {
	t.Helper()
	var b strings.Builder
	for i, m := range messages {
		switch {
		case m.Summary:
			b.WriteByte('s')
		default:
			b.WriteByte(m.Role[0])
		}
		if m.Role == session.ToolRole && (i == 0 || len(messages[i-1].Calls()) != len(m.Parts)) {
			t.Errorf("outcomes without their calls at %d", i)
		}
		if len(m.Calls()) > 0 && (i+1 == len(messages) || messages[i+1].Role != session.ToolRole) {
			t.Errorf("calls without outcomes at %d", i)
		}
	}
	return b.String()
}

// TestCompactRefusesBeforeItPays: where the prompt and the tools are most of a request, no summary
// can free much.
func TestCompactRefusesBeforeItPays(t *testing.T) {
	r := newRig(t, says(text("an answer")), says(text("a summary"))).window(100_000)
	r.config.Start.System = long(5000)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "hello"}), session.CauseDone)
	got := s.Compact(t.Context(), "")
	wantCause(t, got, session.CauseUsage)
	if n := len(r.model.requests); n != 1 {
		t.Errorf("%d requests were made, want the first alone", n)
	}
	if !strings.Contains(got.Message, "free too little") || got.Hint == "" {
		t.Errorf("it says %q, hint %q", got.Message, got.Hint)
	}
	if len(r.compactions(t)) != 0 {
		t.Error("it was summed up all the same")
	}
}

func TestAFullContextIsSummedUp(t *testing.T) {
	r := newRig(t, says(text(long(300))), says(text(long(300))), says(text("what was done")), says(text("three"))).window(1000)
	s := session.New(r.config)
	for _, p := range []string{"first", "second " + long(150), "third"} {
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: p}), session.CauseDone)
	}
	sum, next := r.model.requests[2], r.model.requests[3]
	if got := asked(sum); !slices.Equal(got[len(got)-1:], []string{"sum it up"}) || sum.Choice != session.ChooseNone || sum.System != next.System || sum.ToolsDigest != next.ToolsDigest {
		t.Errorf("the summary was asked for by %q, choice %q", got, sum.Choice)
	}
	wantText(t, "the request after it", shape(t, next.Messages), "su")
	if first := next.Messages[0].Text(); !strings.Contains(first, "what was done") || strings.Contains(first, "word for word") {
		t.Errorf("the summary is %q", first)
	}
	c := r.compactions(t)
	if len(c) != 1 || c[0].Messages != 4 || c[0].After >= c[0].Before/2 || !strings.Contains(c[0].Cause, "% full") {
		t.Fatalf("compactions %+v", c)
	}
	wantChange(t, r.changes(t), true, "the conversation was summed up")
	for _, e := range r.events {
		if d, ok := e.(session.TextDelta); ok && strings.Contains(d.Delta, "what was done") {
			t.Error("the summary was shown as an answer")
		}
	}
	if used := s.Ledger().Used; len(used) != 1 || used[0].Requests != 4 {
		t.Errorf("used %+v, want all four requests", used)
	}
}

func TestASummedUpSessionIsResumed(t *testing.T) {
	r := newRig(t, says(text(long(300))), says(text(long(300))), says(text("in short")), says(text("three")), says(text("four"))).window(1000)
	s := session.New(r.config)
	for _, p := range []string{"first", "second " + long(150), "third"} {
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: p}), session.CauseDone)
	}
	resumed, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(ids(resumed.History())), fmt.Sprint(ids(s.History())); got != want {
		t.Errorf("resumed with %s, want %s", got, want)
	}
	if got := shape(t, resumed.Earlier()); got != "uaua" {
		t.Errorf("earlier were %q", got)
	}
	if got, want := resumed.Ledger().Used[0].Requests, s.Ledger().Used[0].Requests; got != want {
		t.Errorf("%d requests are remembered, want %d", got, want)
	}
	wantCause(t, resumed.Prompt(t.Context(), session.Input{Text: "fourth"}), session.CauseDone)
	wantText(t, "the next request", shape(t, r.model.requests[4].Messages), "suau")
	if n := len(r.changes(t)); n != 1 {
		t.Errorf("%d changes of the prefix, want the one of the summary", n)
	}
	seen := map[string]bool{}
	for _, m := range append(slices.Clone(r.model.requests[1].Messages), resumed.History()...) {
		if m.ID == "m1" || m.ID == "m2" || m.ID == "m3" {
			continue // in both
		}
		if seen[m.ID] {
			t.Errorf("two messages have the id %s", m.ID)
		}
		seen[m.ID] = true
	}
}

func ids(messages []session.Message) (out []string) {
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return out
}

// One prompt, many steps: the turn goes on, and the user's words survive two summaries.
func TestALongTurnIsSummedUpAndGoesOn(t *testing.T) {
	var steps []func(context.Context, func(session.Chunk) bool)
	for i := range 4 {
		steps = append(steps, says(text("I look."), call(fmt.Sprint("a", i), "look", fmt.Sprintf(`{"text":%q}`, long(100))), call(fmt.Sprint("b", i), "look", fmt.Sprintf(`{"text":"%d"}`, i))))
	}
	steps = slices.Insert(steps, 3, says(text("first summary")))
	steps = append(steps, says(text("end")))
	r := newRig(t, steps...).window(800)
	res := session.New(r.config).Prompt(t.Context(), session.Input{Text: "find the parser"})
	wantCause(t, res, session.CauseDone)
	wantText(t, "text", res.Text, "end")
	if len(r.compactions(t)) != 1 {
		t.Fatalf("%d compactions", len(r.compactions(t)))
	}
	for i, q := range r.model.requests {
		got := shape(t, q.Messages)
		if strings.HasPrefix(got, "s") && !strings.Contains(q.Messages[0].Text(), "find the parser") {
			t.Errorf("request %d (%s) has lost what the person said: %q", i, got, q.Messages[0].Text())
		}
	}
}

func TestARequestThatIsTooLongIsSummedUpOnce(t *testing.T) {
	tooLong := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.ContextError, Message: "too long"}})
	r := newRig(t, says(text(long(500))), tooLong, says(text("short")), says(text("good"))).window(0)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	res := s.Prompt(t.Context(), session.Input{Text: "two"})
	wantCause(t, res, session.CauseDone)
	wantText(t, "text", res.Text, "good")
	wantText(t, "the request", shape(t, r.model.requests[3].Messages), "su")

	r = newRig(t, says(text(long(500))), tooLong, says(text("short")), tooLong).window(0)
	s = session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two"}), session.CauseContext)
	if n := len(r.compactions(t)); n != 1 {
		t.Errorf("%d compactions, want one: it was refused again", n)
	}
}

func TestASummaryThatFailsCostsNothing(t *testing.T) {
	broken := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.RequestError, Message: "no"}})
	for name, step := range map[string]func(context.Context, func(session.Chunk) bool){
		"an error": broken, "nothing": says(), "too long": says(text(long(700))), "calls": says(call("x", "change", `{"text":"never"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, says(text(long(700))), step, says(text("on"))).window(1000)
			s := session.New(r.config)
			wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
			wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two " + long(60)}), session.CauseDone)
			wantText(t, "the request", shape(t, r.model.requests[2].Messages), "uau")
			if !strings.Contains(r.kinds(), "notice") || len(r.compactions(t)) != 0 {
				t.Errorf("events %s", r.kinds())
			}
			if !strings.Contains(r.shelf.types(), "request") {
				t.Errorf("the log knows nothing of the request: %s", r.shelf.types())
			}
			if r.shelf.has(session.IntentEntry, "never") {
				t.Error("a call of the summary ran")
			}
		})
	}
}

func TestAnAbortEndsTheSummary(t *testing.T) {
	r := newRig(t, says(text(long(700))), func(ctx context.Context, yield func(session.Chunk) bool) {
		<-ctx.Done()
		yield(session.Done{Stop: session.StopAborted, Err: ctx.Err()})
	}).window(1000)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	ctx, cancel := context.WithCancel(t.Context())
	r.onSee = func(e session.Event) {
		if n, ok := e.(session.Notice); ok && strings.Contains(n.Text, "summing up") {
			cancel()
		}
	}
	wantCause(t, s.Prompt(ctx, session.Input{Text: long(60)}), session.CauseInterrupted)
	wantText(t, "what is left", shape(t, s.History()), "uau")
}

// A summary that was stopped or failed is asked for again at the next prompt, and only once in
// each.
func TestASummaryThatWasNotGotIsAskedForAgain(t *testing.T) {
	broken := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.RequestError, Message: "no"}})
	r := newRig(t, says(text(long(700))),
		broken, says(call("a", "look", `{"text":"x"}`)), says(text("on")),
		says(text("in short")), says(text("end"))).window(1000)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two " + long(60)}), session.CauseDone)
	if n := len(r.model.requests); n != 4 || len(r.compactions(t)) != 0 {
		t.Fatalf("%d requests, %d compactions: want the failed one and three others", n, len(r.compactions(t)))
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "three"}), session.CauseDone)
	if n := len(r.compactions(t)); n != 1 {
		t.Errorf("%d compactions in the turn after it, want 1", n)
	}
}

// What the user says while the conversation is summed up is in the very next request.
func TestTheSummaryIsSteeredPast(t *testing.T) {
	r := newRig(t, says(text(long(700))), says(text("in short")), says(text("on"))).window(1000)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	r.onSee = func(e session.Event) {
		if n, ok := e.(session.Notice); ok && strings.Contains(n.Text, "summing up") && !s.Steer("look at b instead") {
			t.Error("nobody listens while the conversation is summed up")
		}
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two " + long(60)}), session.CauseDone)
	if got := asked(r.model.requests[2]); got[len(got)-1] != "look at b instead" {
		t.Errorf("the next request ends with %q", got)
	}
}

func TestASummaryThatCannotBeStoredIsNone(t *testing.T) {
	r := newRig(t, says(text(long(700))), says(text("in short"))).window(1000)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	r.shelf.failAt = len(r.shelf.entries) + 1
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: long(60)}), session.CauseStore)
	wantText(t, "what is left", shape(t, s.History()), "uau")
}

func TestThePersonAsksForASummary(t *testing.T) {
	r := newRig(t, says(text(long(300))), says(text(long(300))), says(text("shorter")), says(text("on"))).window(100_000)
	s := session.New(r.config)
	wantCause(t, s.Compact(t.Context(), ""), session.CauseUsage)
	for _, p := range []string{"one", "two"} {
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: p}), session.CauseDone)
	}
	wantCause(t, s.Compact(t.Context(), "the name of the parser"), session.CauseDone)
	if got := asked(r.model.requests[2]); !strings.Contains(got[len(got)-1], "the name of the parser") {
		t.Errorf("the request for a summary is %q", got)
	}
	wantText(t, "what is left", shape(t, s.History()), "s")
	if _, err := s.Rewind(t.Context()); !errors.Is(err, session.ErrNothingSaid) {
		t.Errorf("a summary was taken back: %v", err)
	}
	wantCause(t, s.Compact(t.Context(), ""), session.CauseUsage)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "three"}), session.CauseDone)
	if said, err := s.Rewind(t.Context()); err != nil || said != "three" {
		t.Errorf("took back %q, %v", said, err)
	}
}

// What does not fit even to be summed up is cut, in copies: what was stored and encoded stays as it
// is.
func TestOutputsAreCutForASummary(t *testing.T) {
	huge := func(context.Context, string) (string, error) { return long(900), nil }
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, huge)},
		says(text("I look."), call("a", "look", `{"text":"x"}`), call("b", "look", `{"text":"x"}`)), says(text("in short")), says(text("end"))).window(2000)
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseDone)
	sum := r.model.requests[1]
	out := sum.Messages[2]
	if o := out.Parts[0].Outcome; len(o.Output) > 2100 || !strings.Contains(o.Output, "left out") || out.ID == "m3" {
		t.Errorf("%d bytes of output were sent for a summary in message %s", len(o.Output), out.ID)
	}
	wantText(t, "the next request", shape(t, r.model.requests[2].Messages), "s")
	if !r.shelf.has(session.OutcomeEntry, long(900)) {
		t.Error("the log has lost the output")
	}
}

func TestASummaryIsAskedForAgain(t *testing.T) {
	busy := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.RateError, Message: "busy", RetryAfter: 7 * time.Second}})
	r := newRig(t, says(text(long(700))), busy, says(text("in short")), says(text("on"))).window(1000)
	var waited []time.Duration
	r.config.Wait = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two " + long(60)}), session.CauseDone)
	if len(waited) != 1 || waited[0] < 7*time.Second {
		t.Errorf("waited %v, want once for what the provider asked", waited)
	}
	if len(r.compactions(t)) != 1 || !strings.Contains(r.kinds(), "retry") {
		t.Errorf("events %s", r.kinds())
	}
}

// What is kept of a conversation has the provider's counts of the longer one that it was.
func TestACountFromBeforeASummaryIsNotThatOfWhatIsLeft(t *testing.T) {
	counted := func(tokens int, answer string) func(context.Context, func(session.Chunk) bool) {
		return only(text(answer), session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: tokens, Output: 1}})
	}
	r := newRig(t, says(text(long(4000))), counted(6000, "short"), counted(6010, "short"), says(text(long(300)))).window(100_000)
	s := session.New(r.config)
	for _, p := range []string{"one", "two", "three"} {
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: p}), session.CauseDone)
	}
	wantCause(t, s.Compact(t.Context(), ""), session.CauseDone)
	wantText(t, "what is left", shape(t, s.History()), "suaua")
	resumed, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	live, again := s.Ledger(), resumed.Ledger()
	if d := live.Estimate - again.Estimate; d < -2 || d > 2 || again.Corrected == 0 {
		t.Errorf("%d tokens (×%.2f) when it goes on, %d (×%.2f) before", again.Estimate, again.Factor, live.Estimate, live.Factor)
	}
}
