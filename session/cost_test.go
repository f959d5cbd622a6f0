package session_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"adze/session"
)

// cents prices a token of the model m at one cent, and knows no other model.
func cents(_, model string, u session.Usage) (float64, bool) {
	return float64(u.Total()) / 100, model == "m" && u != session.Usage{}
}

func TestTheResultTellsWhatAllRequestsCost(t *testing.T) {
	rate := only(session.Done{Err: &session.ProviderError{Kind: session.AuthError, Status: 401, Message: "no"}})
	for name, c := range map[string]struct {
		price func(string, string, session.Usage) (float64, bool)
		model string
		steps []func(context.Context, func(session.Chunk) bool)
		want  float64 // below 0: not known
	}{
		"two requests":         {cents, "m", steps(says(call("c", "look", `{}`)), says(text("done"))), 0.22},
		"cache tokens count":   {cents, "m", steps(only(text("x"), session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: 1, CacheRead: 5, CacheWrite: 4}})), 0.10},
		"a refused request":    {cents, "m", steps(rate), 0},
		"an unknown model":     {cents, "other", steps(says(text("done"))), -1},
		"nobody knows a price": {nil, "m", steps(says(text("done"))), -1},
		"no usage was told":    {cents, "m", steps(only(text("x"), session.Done{Stop: session.StopEnd})), -1},
		"one of two unknown":   {cents, "m", steps(says(call("c", "look", `{}`)), only(text("x"), session.Done{Stop: session.StopEnd})), -1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.steps...)
			r.config.Price, r.config.Model = c.price, c.model
			res := r.prompt(t, "go")
			switch {
			case c.want < 0 && res.Cost != nil:
				t.Errorf("cost = %v, want it unknown", *res.Cost)
			case c.want >= 0 && (res.Cost == nil || math.Abs(*res.Cost-c.want) > 1e-9):
				t.Errorf("cost = %v, want %v", res.Cost, c.want)
			}
		})
	}
}

func steps(all ...func(context.Context, func(session.Chunk) bool)) []func(context.Context, func(session.Chunk) bool) {
	return all
}

func TestTheCostBudgetEndsATurn(t *testing.T) {
	again := says(call("c", "look", `{}`))
	for name, c := range map[string]struct {
		limit float64
		model string
		asked int
		says  string
	}{
		"spent":   {0.15, "m", 2, "0.2200 USD were spent"},
		"unknown": {1000, "other", 1, "is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, again, again, again)
			r.config.Price, r.config.Model, r.config.Limits = cents, c.model, session.Limits{Cost: c.limit}
			res := r.prompt(t, "go")
			wantCause(t, res, session.CauseBudget)
			if len(r.model.requests) != c.asked || !strings.Contains(res.Message, c.says) {
				t.Errorf("%d requests, message %q", len(r.model.requests), res.Message)
			}
		})
	}
}
