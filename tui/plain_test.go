package tui

import (
	"context"
	"io"
	"strings"
	"testing"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// TestPlainIsLines plays a turn with a question in the interface for screen readers.
func TestPlainIsLines(t *testing.T) {
	said := talking(t, func(k *talk, o *Options) {
		o.Info = Info{Version: "0.1.0", Model: "acted", Mode: "ask", Cwd: "/w", Notices: []string{"a no\x1b[2Jtice"}}
		o.Send = func(ctx context.Context, p api.Prompt) session.Result { return (&actor{ui: k.ui}).send(ctx, p) }
	}, func(k *talk) {
		k.press("fix it")
		k.until("anything else says no")
		k.press("y")
		k.until("too soon")
		k.waits()
		k.press("too risky")
		k.until("denied: too risky")
		k.until("Ready.")
		k.press("/quit")
	})
	for _, want := range []string{"a notice\n", "I'll look at the failing test first", "execute", "<U+202E>evil", "Running bash."} {
		if !strings.Contains(said, want) {
			t.Errorf("%q was not said:\n%s", want, said)
		}
	}
	if strings.ContainsAny(said, "\x1b\r\a") {
		t.Errorf("a control character was printed:\n%q", said)
	}
}

// TestPlainEndsWithItsInput: what runs goes on, but nobody can be asked any more.
func TestPlainEndsWithItsInput(t *testing.T) {
	var answer ask.Answer
	var u *UI
	u = New(Options{In: strings.NewReader("go\n"), Out: io.Discard, Send: func(ctx context.Context, _ api.Prompt) session.Result {
		var err error
		if answer, err = u.Ask(ctx, ask.Permission{Question: tool.Question{Tool: tool.Definition{Name: "bash"}}}); err != nil {
			t.Error(err)
		}
		return session.Result{Cause: session.CauseDone}
	}})
	if err := u.RunPlain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer.Choice != ask.Deny || answer.Reason == "" {
		t.Errorf("answered %+v", answer)
	}
}

// TestPlainNamesSubagents: their calls are told of with their name, and are no part of the
// conversation.
func TestPlainNamesSubagents(t *testing.T) {
	var out strings.Builder
	var u *UI
	u = New(Options{In: strings.NewReader("go\n"), Out: &out, Blocks: testBlocks, Send: func(context.Context, api.Prompt) session.Result {
		nested := tool.Event{Call: "c1/d1", Parent: "c1", Agent: "explore: find\x1b[2J it", Tool: "grep"}
		u.Observe(session.ToolStart{Event: tool.Event{Call: "c1", Tool: "task"}})
		u.Observe(session.ToolStart{Event: nested})
		u.Observe(session.ToolEnd{Outcome: tool.Outcome{Call: "c1/d1", Tool: "grep", Status: tool.Completed, Title: "3 matches"}, Parent: "c1"})
		u.Observe(session.ToolEnd{Outcome: tool.Outcome{Call: "c1", Tool: "task", Status: tool.Completed, Title: "find it · 1 call"}})
		r := session.Result{Cause: session.CauseDone}
		u.Observe(session.TurnEnd{Result: r})
		return r
	}})
	if err := u.RunPlain(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{"Running task.\n", "Running grep for explore: find it.\n", "find it · 1 call"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q was not said:\n%s", want, got)
		}
	}
	if strings.Contains(got, "3 matches") || strings.ContainsRune(got, 0x1b) {
		t.Errorf("said:\n%q", got)
	}
}

// TestALineTooLongIsToldAndTheNextOneObeyed: it must not look like the end of the input.
func TestALineTooLongIsToldAndTheNextOneObeyed(t *testing.T) {
	var sent []string
	var out strings.Builder
	u := New(Options{In: strings.NewReader(strings.Repeat("a", 2<<20) + "\nshort\r\n"), Out: &out, Blocks: testBlocks, Send: func(_ context.Context, p api.Prompt) session.Result {
		sent = append(sent, p.Text)
		return session.Result{Cause: session.CauseDone}
	}})
	if err := u.RunPlain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(sent) != 1 || sent[0] != "short" || !strings.Contains(out.String(), "longer than 1 MB") {
		t.Errorf("sent %d prompts; shown:\n%s", len(sent), out.String())
	}
}
