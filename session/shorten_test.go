package session_test

import (
	"context"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// One result that is larger than the window is shortened in what is sent, and said; the log keeps
// it, and a run that goes on later shortens it again. Nothing is summed up for it.
func TestOneResultLargerThanTheWindowIsShortened(t *testing.T) {
	huge := func(context.Context, string) (string, error) { return "begin " + long(50_000) + " end", nil }
	tooLong := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.ContextError, Message: "too long"}})
	look := says(text("I look."), call("a", "look", `{"text":"x"}`))
	type step = func(context.Context, func(session.Chunk) bool)
	for name, c := range map[string]struct {
		window int
		steps  []step
	}{
		"before it is sent":    {8000, []step{look, says(text("seen"))}},
		"after it was refused": {0, []step{look, tooLong, says(text("seen"))}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigWith(t, []tool.Tool{noting("look", tool.Read, huge)}, c.steps...).window(c.window)
			r.config.Clip = tool.Clip{Bytes: 1 << 20, Lines: 1 << 20}
			s := session.New(r.config)
			res := s.Prompt(t.Context(), session.Input{Text: "go"})
			wantCause(t, res, session.CauseDone)
			wantText(t, "text", res.Text, "seen")
			last := r.model.requests[len(r.model.requests)-1]
			o := last.Messages[2].Parts[0].Outcome
			if len(o.Output) > 150_000 || !strings.HasPrefix(o.Output, "begin ") || !strings.Contains(o.Output, " end\n") || !strings.Contains(o.Output, "ask for a part of it") {
				t.Errorf("%d bytes were sent", len(o.Output))
			}
			if !r.shelf.has(session.OutcomeEntry, long(50_000)) || len(r.compactions(t)) != 0 {
				t.Error("the log has lost the output, or the conversation was summed up")
			}
			told := 0
			for _, e := range r.events {
				if n, ok := e.(session.Notice); ok && strings.Contains(n.Text, "the result of look has 200010 bytes") {
					told++
				}
				if p, ok := e.(session.PrefixChanged); ok && !p.Change.Expected {
					t.Errorf("%v", p.Change)
				}
			}
			if told != 1 {
				t.Errorf("told %d times", told)
			}
		})
	}
}

// A model that refuses whatever is left ends the run: shortening ends, too.
func TestShorteningEnds(t *testing.T) {
	huge := func(context.Context, string) (string, error) { return long(50_000), nil }
	tooLong := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.ContextError, Message: "too long"}})
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, huge)}, says(call("a", "look", `{"text":"x"}`)), tooLong, tooLong, tooLong, tooLong, tooLong, tooLong, tooLong, tooLong).window(0)
	r.config.Clip = tool.Clip{Bytes: 1 << 20, Lines: 1 << 20}
	wantCause(t, session.New(r.config).Prompt(t.Context(), session.Input{Text: "go"}), session.CauseContext)
	if n := len(r.model.requests); n > 7 {
		t.Errorf("%d requests", n)
	}
}
