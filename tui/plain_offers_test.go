package tui

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// TestPlainOffersByNumber: all that may be allowed for longer is listed, and a number takes one of
// it.
func TestPlainOffersByNumber(t *testing.T) {
	for line, want := range map[string]ask.Answer{
		"a 1": {Choice: ask.ForSession, Offer: 0}, "a4": {Choice: ask.ForSession, Offer: 2}, "a 3": {Choice: ask.Always, Offer: 1},
		"a": {Choice: ask.ForSession, Offer: 1}, "a 5": {Choice: ask.Deny, Reason: "a 5"}, "some reason": {Choice: ask.Deny, Reason: "some reason"},
	} {
		var got ask.Answer
		said := talking(t, func(k *talk, o *Options) {
			o.Send = func(ctx context.Context, _ api.Prompt) session.Result {
				got, _ = k.ui.Ask(ctx, ask.Permission{Question: tool.Question{Tool: tool.Definition{Name: "bash"}}, Usual: 1, Offers: []ask.Offer{
					{Rule: "allow execute(go test ./a)", Covers: "these words"}, {Rule: "allow execute(go test **)", Covers: "any words", Save: "/c"},
					{Rule: "allow read(work:src/**)"}}})
				r := session.Result{Cause: session.CauseDone}
				k.ui.Observe(session.TurnEnd{Result: r})
				return r
			}
		}, func(k *talk) {
			k.press("go")
			k.until("model why:")
			k.waits()
			k.press(line)
			k.until("Ready.")
			k.press("/quit")
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q answers %+v, want %+v", line, got, want)
		}
		for _, part := range []string{"1: allow execute(go test ./a) (allows these words · for this session)\n", "2: allow execute(go test **)", "4: allow read(work:src/**)", "3: allow execute(go test **) (allows any words · kept in /c)", "(a 2)"} {
			if !strings.Contains(said, part) {
				t.Errorf("%q was not said:\n%s", part, said)
			}
		}
	}
}
