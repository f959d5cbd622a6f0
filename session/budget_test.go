package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/session"
	"adze/tool"
)

// employ is a tool whose calls are sessions that work for the turn of the caller.
func employ(parent **session.Session, child *rig, results *[]session.Result) tool.Tool {
	return noting("employ", tool.Read, func(ctx context.Context, _ string) (string, error) {
		c := child.config
		c.ParentBudget = (*parent).Budget()
		c.Start.Agent, c.Start.Call = "helper", "c1"
		r := session.New(c).Prompt(ctx, session.Input{Text: "help"})
		*results = append(*results, r)
		return r.Text, nil
	})
}

// worksFor makes a session whose first call is one of employ, and runs it.
func worksFor(t *testing.T, limits, own session.Limits, child *rig) (session.Result, session.Result) {
	t.Helper()
	var s *session.Session
	var results []session.Result
	r := rigWith(t, []tool.Tool{employ(&s, child, &results)}, says(call("c1", "employ", `{}`)), says(text("done")))
	r.config.Limits, child.config.Limits = limits, own
	s = session.New(r.config)
	res := s.Prompt(t.Context(), session.Input{Text: "go"})
	if len(results) != 1 {
		t.Fatalf("%d subagents ran", len(results))
	}
	return res, results[0]
}

func TestWhatASubagentUsesCountsInTheTurnThatItWorksFor(t *testing.T) {
	child := newRig(t, says(call("d1", "change", `{"text":"a"}`)), says(text("found")))
	child.config.Model = "small"
	child.config.Price = func(_, _ string, u session.Usage) (float64, bool) { return float64(u.Input), true }
	child.config.Gate = tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
		return tool.Decision{Reason: "no"}, nil
	})
	res, own := worksFor(t, session.Limits{}, session.Limits{}, child)
	if res.Steps != 4 || own.Steps != 2 {
		t.Errorf("%d requests, of which %d of the subagent", res.Steps, own.Steps)
	}
	if res.Usage["fake/small"].Input != 20 || res.Usage["fake/m"].Input != 20 || len(own.Usage) != 1 {
		t.Errorf("usage %v, of the subagent %v", res.Usage, own.Usage)
	}
	if res.Calls["change"][tool.Denied] != 1 || res.Calls["employ"][tool.Completed] != 1 || own.Calls["employ"] != nil {
		t.Errorf("calls %v, of the subagent %v", res.Calls, own.Calls)
	}
	if res.Cost != nil || own.Cost == nil || *own.Cost != 20 {
		t.Errorf("cost %v, of the subagent %v", res.Cost, own.Cost)
	}
	raw, _ := json.Marshal([2]any{res.Denied, own.Denied})
	wantText(t, "denied", string(raw), `[[{"call":"c1/d1","tool":"change","reason":"no","agent":"helper"}],[{"call":"d1","tool":"change","reason":"no"}]]`)
}

func TestTheLimitsOfATurnHoldForItsSubagents(t *testing.T) {
	look := says(call("d", "look", `{}`))
	for name, c := range map[string]struct {
		limits, own session.Limits
		message     string
		ended       session.Cause // of the turn
	}{
		"steps of the turn":  {session.Limits{Steps: 3}, session.Limits{Steps: 9}, "3 model requests", session.CauseBudget},
		"own steps":          {session.Limits{Steps: 9}, session.Limits{Steps: 3}, "3 model requests", session.CauseDone},
		"calls of the turn":  {session.Limits{Calls: 3}, session.Limits{}, "3 calls", session.CauseBudget},
		"tokens of the turn": {session.Limits{Tokens: 30}, session.Limits{}, "33 tokens", session.CauseBudget},
	} {
		t.Run(name, func(t *testing.T) {
			res, own := worksFor(t, c.limits, c.own, newRig(t, look, look, look, look))
			wantCause(t, own, session.CauseBudget)
			wantCause(t, res, c.ended)
			if !strings.Contains(own.Message, c.message) {
				t.Errorf("message %q, want %q", own.Message, c.message)
			}
		})
	}
}

func TestACallThatWasCutOffNamesItsSubagent(t *testing.T) {
	r := newRig(t)
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old"}),
		logged(t, session.MessageEntry, asking("m2", "c1", "c2")),
		logged(t, session.IntentEntry, tool.Record{Message: "m2", Call: "c1"}),
		logged(t, session.SubagentEntry, session.Subagent{Session: "s1-child", Name: "helper", Message: "m2", Call: "c1"}),
	}
	if _, err := session.Resume(t.Context(), r.config); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"c1 aborted outcome unknown: adze ended while this ran; look before you run it again; it had started the subagent s1-child, whose log has what it came to",
		"c2 aborted aborted before it ran",
	}
	if got := r.outcomes(t); !slices.Equal(got, want) {
		t.Errorf("outcomes %q, want %q", got, want)
	}
}

func TestCallsThatTheirToolCallsConcurrentRunTogether(t *testing.T) {
	var both sync.WaitGroup // one that waits alone waits until the test's time is up
	both.Add(2)
	meet := tool.Define("meet", tool.Config[noteArgs, noteMeta]{
		Description: "meet", Permissions: tool.Requires(tool.Execute), Redact: tool.Expose(),
		Concurrent: func(in noteArgs) bool { return in.Text != "alone" },
		Run: func(_ context.Context, _ tool.Context[noteMeta], in noteArgs) (tool.Result[noteMeta], error) {
			if in.Text == "alone" {
				return tool.Result[noteMeta]{Output: "alone"}, nil
			}
			both.Done()
			both.Wait()
			return tool.Result[noteMeta]{Output: "met"}, nil
		},
	})
	r := rigWith(t, []tool.Tool{meet}, says(call("c1", "meet", `{}`), call("c2", "meet", `{}`), call("c3", "meet", `{"text":"alone"}`)), says(text("done")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	if got := strings.Join(r.outcomes(t), "; "); got != "c1 completed met; c2 completed met; c3 completed alone" {
		t.Errorf("outcomes %s", got)
	}
}
