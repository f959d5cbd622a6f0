package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"adze/internal/testkit/llmtest"
	"adze/session"
	"adze/tool"
)

// outcomes answers each call, in every way a call can end.
func outcomes(asked session.Message, n int) session.Message {
	m := session.Message{ID: asked.ID + "o", Role: session.ToolRole}
	for i, c := range asked.Calls() {
		o := tool.Outcome{Call: c.ID, Tool: c.Name, Status: tool.Completed, Output: fmt.Sprintf("output %d of turn %d", i, n)}
		switch n % 5 {
		case 1:
			o.Status, o.Code, o.Output = tool.Failed, "E", "no such file"
		case 2:
			o.Output = ""
		case 3:
			o.Attachments = []tool.Attachment{
				{Name: "a.png", MediaType: "image/png", Data: llmtest.Pixel()},
				{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")},
				{Name: "a.bin", MediaType: "application/octet-stream", Data: []byte{0}},
			}
		}
		m.Parts = append(m.Parts, session.Part{Kind: session.OutcomePart, Outcome: &o})
	}
	return m
}

// turnAnswer is the n-th answer of the long session: one call, several, with and without thinking.
func turnAnswer(n int) Answer {
	a := Answer{Text: fmt.Sprintf("Step %d.", n), Piece: 5, Usage: session.Usage{Input: 100 + n, Output: 9}}
	if n%2 == 1 {
		a.Reasoning = fmt.Sprintf("Thinking about %d.", n)
	}
	for i := range n%3 + 1 {
		a.Calls = append(a.Calls, Call{ID: fmt.Sprintf("call_%d_%d", n, i), Name: "read", Arguments: fmt.Sprintf(`{"path":"%d.txt"}`, i)})
	}
	if n%4 == 2 {
		a.Text, a.Calls[0].Arguments = "", "{}"
	}
	return a
}

func offered() []tool.Definition {
	return []tool.Definition{
		{Type: "function", Name: "read", Description: "Reads <a file> & shows it.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}}}`)},
		{Type: "function", Name: "todoread", Description: "Reads the list.", Parameters: json.RawMessage(`{"type":"object"}`),
			ProviderSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
}

// foreign: a conversation that another provider began, cut, orphaned and with odd ids, is accepted
// by a strict server, and none of the other provider's thinking is sent.
func foreign(t *testing.T, w Wire) {
	part := func(c tool.RawCall) session.Part { return session.Part{Kind: session.CallPart, Call: &c} }
	result := func(id tool.CallID) session.Part {
		return session.Part{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: id, Tool: "read", Status: tool.Completed, Output: "ok"}}
	}
	text := func(s string) session.Part { return session.Part{Kind: session.TextPart, Text: s} }
	long := tool.CallID(strings.Repeat("x", 90))
	server := newStrict(t, w, func(int) Answer { return Answer{Text: "Fine."} })
	defer server.Close()
	r := session.Request{Model: "m", Messages: []session.Message{
		{ID: "0", Role: session.ToolRole, Parts: []session.Part{result("gone")}},
		{ID: "1", Role: session.User, Parts: []session.Part{text("go")}},
		{ID: "2", Role: session.Assistant, Provider: "other", Parts: []session.Part{
			{Kind: session.ReasoningPart, Text: "secret thought", Opaque: json.RawMessage(`{"signature":"theirs"}`)},
			text("I read."),
			part(tool.RawCall{ID: "functions.read:0", Name: "read", Arguments: `{"path":"a"}`, Opaque: json.RawMessage(`{"after":1}`)}),
			part(tool.RawCall{ID: long, Name: "re.ad", Arguments: `{"path": cut`}),
			part(tool.RawCall{ID: long + "y", Name: "", Arguments: ""}),
		}},
		{ID: "3", Role: session.ToolRole, Parts: []session.Part{result(long), result("functions.read:0"), result("never")}},
		{ID: "4", Role: session.Assistant, Provider: "other"},
		{ID: "5", Role: session.User},
		{ID: "6", Role: session.User, Parts: []session.Part{text("and more"), {Kind: session.AttachmentPart, Attachment: &tool.Attachment{
			Name: "a.png", MediaType: "image/png", Data: llmtest.Pixel()}}}},
		{ID: "7", Role: session.Assistant, Provider: "other", Parts: []session.Part{part(tool.RawCall{ID: "open", Name: "read"})}},
		{ID: "8", Role: session.User, Parts: []session.Part{text("stop that")}},
	}}
	p := w.New(Options{BaseURL: server.URL, NewID: counter()})
	for range 2 { // the second time from the cache
		if g := collect(t.Context(), t, p, r); g.done.Err != nil {
			t.Fatalf("%v", g.done.Err)
		}
	}
	if !bytes.Equal(server.bodies[0], server.bodies[1]) {
		t.Errorf("the same request is sent in other bytes:\n%s\n%s", server.bodies[0], server.bodies[1])
	}
	body := string(server.bodies[0])
	if strings.Contains(body, "secret thought") || strings.Contains(body, "theirs") || strings.Contains(body, "never") {
		t.Errorf("the request holds what it must not: %s", body)
	}
	thinking := 0
	for _, item := range server.seen[0].Items {
		thinking += item.Thinking
	}
	if thinking > 0 || !strings.Contains(body, "no outcome was recorded") {
		t.Errorf("%d blocks of thinking in %s", thinking, body)
	}
}

// together: one provider serves sessions beside each other, whose message ids are the same.
func together(t *testing.T, w Wire) {
	server := newStrict(t, w, func(int) Answer { return Answer{Text: "Fine."} })
	defer server.Close()
	var mu sync.Mutex
	mint := counter()
	p := w.New(Options{BaseURL: server.URL, NewID: func() string { mu.Lock(); defer mu.Unlock(); return mint() }})
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for range 5 {
				if g := collect(t.Context(), t, p, question(fmt.Sprintf("prompt of session %d", i))); g.done.Err != nil {
					t.Error(g.done.Err)
				}
			}
		})
	}
	group.Wait()
	count := map[string]int{}
	for _, r := range server.seen {
		count[r.Items[len(r.Items)-1].Text]++
	}
	if len(count) != 4 {
		t.Errorf("the sessions' prompts were mixed: %v", count)
	}
}
