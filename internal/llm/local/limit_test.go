package local_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"adze/internal/llm/local"
	"adze/session"
	"adze/tool"
)

// server counts as it likes, and how often it was asked.
type counter struct {
	count int
	asked int
}

func (s *counter) Name() string { return "llamacpp" }

func (s *counter) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		s.asked++
		if yield(session.Text{Delta: "yes"}) {
			yield(session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: s.count}})
		}
	}
}

func ask(t *testing.T, p session.Provider, size int) session.Done {
	t.Helper()
	var done session.Done
	n := 0
	r := session.Request{Model: "m", Messages: []session.Message{{Role: session.User, Parts: []session.Part{
		{Kind: session.TextPart, Text: strings.Repeat("x", size)},
		{Kind: session.AttachmentPart, Attachment: &tool.Attachment{MediaType: "application/zip", Data: make([]byte, 1<<20)}},
	}}}}
	for c := range p.Stream(t.Context(), r) {
		if d, ok := c.(session.Done); ok {
			done = d
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d ends", n)
	}
	return done
}

func TestWhatDoesNotFitIsNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		limit, size, counted int // counted is what the server says of a first prompt of 12,000 bytes
		refused              bool
	}{
		"it fits":                         {8192, 20_000, 0, false},
		"it may fit":                      {8192, 64_000, 0, false},
		"it cannot fit":                   {8192, 66_000, 0, true},
		"nobody knows":                    {0, 5_000_000, 0, false},
		"counted as dense: it cannot fit": {8192, 36_000, 4000, true},
		"counted as dense: it may fit":    {8192, 26_000, 4000, false},
		"counted as thin: it may fit":     {8192, 60_000, 1600, false},
		"a count that nobody can believe": {8192, 66_000, 900_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &counter{count: c.counted}
			p := local.Limit(local.Limits{Limit: func(context.Context, string) int { return c.limit }, Hint: func() string { return "start it with more" }})(s)
			if c.counted > 0 {
				ask(t, p, 12_000)
				s.asked = 0
			}
			done := ask(t, p, c.size)
			var failed *session.ProviderError
			refused := errors.As(done.Err, &failed) && failed.Kind == session.ContextError
			if refused != c.refused || (s.asked == 0) != c.refused {
				t.Fatalf("refused %v, asked %d: %v", refused, s.asked, done.Err)
			}
			if refused && (!strings.HasPrefix(failed.Hint, "start it with more; ") || !strings.Contains(failed.Message, "8192 tokens that llamacpp has for m")) {
				t.Errorf("%s\n%s", failed.Message, failed.Hint)
			}
		})
	}
}

func TestAConsumerMayLeave(t *testing.T) {
	p := local.Limit(local.Limits{Hint: func() string { return "" }, Limit: func(context.Context, string) int { return 10 }})(&counter{})
	for range p.Stream(t.Context(), session.Request{Model: "m"}) {
		break
	}
	if p.Name() != "llamacpp" {
		t.Error(p.Name())
	}
}
