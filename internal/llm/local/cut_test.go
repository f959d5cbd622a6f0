package local_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"adze/internal/llm/local"
	"adze/session"
	"adze/tool"
)

// talk asks again and again with a conversation that grows by as many bytes as the next count
// stands beside.
func talk(t *testing.T, limit int, steps []step, with ...session.Part) (cutAt int, learned int, failed *session.ProviderError) {
	t.Helper()
	s := &counter{}
	p := local.Limit(local.Limits{
		Limit: func(context.Context, string) int { return limit }, Hint: func() string { return "start it with more" },
		Learned: func(_ string, n int) { learned = n },
	})(s)
	r := session.Request{Model: "m"}
	for i, step := range steps {
		s.count = step.count
		part := session.Part{Kind: session.TextPart, Text: strings.Repeat("x", step.bytes)}
		r.Messages = append(r.Messages, session.Message{ID: fmt.Sprint("m", i), Role: session.User, Parts: append([]session.Part{part}, with...)})
		var done session.Done
		for c := range p.Stream(t.Context(), r) {
			if d, ok := c.(session.Done); ok {
				done = d
			}
		}
		if errors.As(done.Err, &failed) {
			if failed.Kind != session.ContextError || done.Stop != session.StopError || !strings.Contains(failed.Hint, "start it with more") {
				t.Errorf("%+v", done)
			}
			return i + 1, learned, failed
		}
	}
	return 0, learned, nil
}

type step struct{ bytes, count int }

// The counts of a server that cuts in silence: each ends the talk at the step where it is certain,
// and an honest server's never do.
func TestCountsGiveACutAway(t *testing.T) {
	for name, c := range map[string]struct {
		limit   int
		steps   []step
		at      int // the step that fails; if 0, none
		learned int
	}{
		"at the limit that the server told":           {4096, []step{{8000, 2100}, {6000, 4096}}, 2, 4096},
		"one below it":                                {4096, []step{{8000, 2100}, {6000, 4095}}, 2, 4096},
		"just under it, which leaves some room":       {4096, []step{{8000, 2100}, {6000, 4090}}, 0, 0},
		"a round number for far more text":            {0, []step{{24_000, 4096}}, 1, 4096},
		"a round number that the text may well be":    {0, []step{{16_000, 4096}}, 0, 0},
		"far too few for any tokenizer":               {0, []step{{40_000, 3900}}, 1, 0},
		"it stands while the prompt grows":            {0, []step{{9000, 3000}, {3000, 3996}, {3000, 3996}, {3000, 3996}}, 0, 0},
		"it hardly moves":                             {0, []step{{14_000, 3980}, {3000, 4001}, {3000, 3990}}, 0, 0},
		"whole messages are dropped, again and again": {0, []step{{15_000, 3700}, {6000, 3710}, {18_000, 3710}}, 3, 0},
		"it grows as the prompt does":                 {0, []step{{9000, 3000}, {3000, 4000}, {3000, 5000}, {300, 5100}}, 0, 0},
		"little was said meanwhile":                   {0, []step{{15_000, 3700}, {120, 3720}, {120, 3730}, {120, 3735}}, 0, 0},
		"only what was not cached is counted":         {0, []step{{9000, 3000}, {4000, 900}, {4000, 905}, {4000, 910}}, 0, 0},
		"nothing is counted":                          {0, []step{{9000, 0}, {90_000, 0}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			at, learned, failed := talk(t, c.limit, c.steps)
			if at != c.at || learned != c.learned {
				t.Errorf("failed at step %d and learned %d, want %d and %d: %v", at, learned, c.at, c.learned, failed)
			}
		})
	}
}

// A picture may be a note to one model and a thousand tokens to another: such a conversation is not
// watched.
func TestPicturesMakeNoCut(t *testing.T) {
	picture := session.Part{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: "a.png", MediaType: "image/png", Data: []byte{1}}}
	if at, _, failed := talk(t, 0, []step{{9000, 3000}, {300, 3020}, {300, 3022}, {300, 3025}}, picture); at != 0 {
		t.Error(failed)
	}
}

// What a cut gave away holds for the next request: it is not sent.
func TestAContextThatACutGaveAwayHolds(t *testing.T) {
	s := &counter{count: 4096}
	p := local.Limit(local.Limits{Limit: func(context.Context, string) int { return 0 }, Hint: func() string { return "" }})(s)
	if done := ask(t, p, 24_000); done.Err == nil {
		t.Fatal("the cut was not seen")
	}
	if ask(t, p, 40_000); s.asked != 1 {
		t.Errorf("%d requests were sent", s.asked)
	}
	if done := ask(t, p, 9000); s.asked != 2 || done.Err == nil { // the count is that of the context again
		t.Errorf("%+v", done)
	}
}

// Subagents talk to the same model: their counts are no one else's.
func TestConversationsDoNotMix(t *testing.T) {
	s := &counter{count: 4000}
	p := local.Limit(local.Limits{Limit: func(context.Context, string) int { return 0 }, Hint: func() string { return "" }})(s)
	for i, size := range []int{14_000, 19_000, 24_000} {
		r := session.Request{Model: "m", Agent: "explore", Messages: []session.Message{{ID: "m1", Parts: []session.Part{
			{Kind: session.TextPart, Text: fmt.Sprint("job ", i, strings.Repeat("x", size))},
		}}}}
		for c := range p.Stream(t.Context(), r) {
			if d, ok := c.(session.Done); ok && d.Err != nil {
				t.Errorf("job %d: %v", i, d.Err)
			}
		}
	}
}
