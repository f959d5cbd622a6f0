package conformance_test

import (
	"fmt"
	"testing"

	"adze/internal/testkit/llmtest"
	"adze/session"
	"adze/tool"
)

// legTurns is how many turns with calls one format's part of a relay has.
const legTurns = 4

// relay tries that a session goes on over another wire format, and back: a conversation that begins
// on one continues on the other against servers as strict as the real ones, which give ids again
// that the first had given. No thinking crosses over, and all of its own is back in the first
// format's hands at the end.
func relay(t *testing.T, from, to Wire) {
	r := question("Do all the steps.")
	r.Tools, r.ToolsDigest = offered(), "d1"
	first := leg(t, from, &r, "first")
	second := leg(t, to, &r, "second")
	third := leg(t, from, &r, "third")
	if first.name != second.name {
		if n := thinking(second.seen[0]); n > 0 {
			t.Errorf("%d blocks of thinking of %s were sent to %s", n, first.name, second.name)
		}
		if n, m := thinking(third.seen[0]), thinking(first.seen[legTurns]); n < m {
			t.Errorf("%d of %d blocks of thinking came back to %s", n, m, first.name)
		}
	}
	for i, s := range []runLeg{first, second, third} {
		last := s.seen[len(s.seen)-1]
		if calls, results := answered(last); calls != results || calls < (i+1)*legTurns {
			t.Errorf("leg %d ends with %d calls and %d results", i+1, calls, results)
		}
	}
}

// runLeg is what the server of one leg saw.
type runLeg struct {
	name string
	seen []Request
}

// leg asks until an answer has no calls, and appends all to the conversation.
func leg(t *testing.T, w Wire, r *session.Request, name string) runLeg {
	t.Helper()
	server := newStrict(t, w, func(n int) Answer {
		if n == legTurns {
			return Answer{Text: "Done for now.", Reasoning: "Enough."}
		}
		return turnAnswer(n) // the same ids in each leg
	})
	defer server.Close()
	mint := counter()
	p := w.New(Options{BaseURL: server.URL, NewID: func() string { return name + mint() }})
	for n := range legTurns + 1 {
		var chunks []session.Chunk
		for c := range p.Stream(t.Context(), *r) {
			chunks = append(chunks, c)
		}
		if done := chunks[len(chunks)-1].(session.Done); done.Err != nil || (done.Stop == session.StopCalls) != (n < legTurns) {
			t.Fatalf("%s leg, on %s, turn %d: %+v", name, p.Name(), n, done)
		}
		asked := llmtest.Stored(p.Name(), fmt.Sprintf("%s%d", name, n), chunks)
		r.Messages = append(r.Messages, asked)
		if n < legTurns {
			r.Messages = append(r.Messages, outcomes(asked, n))
		}
	}
	unique(t, r.Messages)
	r.Messages = append(r.Messages, session.Message{ID: name + "u", Role: session.User, Parts: []session.Part{
		{Kind: session.TextPart, Text: "Go on."},
	}})
	return runLeg{p.Name(), server.seen}
}

// unique checks that no two calls of a conversation have one id.
func unique(t *testing.T, messages []session.Message) {
	t.Helper()
	seen := map[tool.CallID]bool{}
	for _, m := range messages {
		for _, c := range m.Calls() {
			if seen[c.ID] {
				t.Errorf("the id %s names two calls", c.ID)
			}
			seen[c.ID] = true
		}
	}
}

func thinking(r Request) (n int) {
	for _, item := range r.Items {
		n += item.Thinking
	}
	return n
}

// answered counts calls and results.
func answered(r Request) (calls, results int) {
	for _, item := range r.Items {
		calls += len(item.Calls)
		if item.Kind == "result" {
			results++
		}
	}
	return calls, results
}
