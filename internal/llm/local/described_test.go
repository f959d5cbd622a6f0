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

// refuser refuses tools as it says, and answers without them.
type refuser struct {
	refusal *session.ProviderError
	asked   []session.Request
}

func (s *refuser) Name() string { return "s" }

func (s *refuser) Stream(_ context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		s.asked = append(s.asked, r)
		if len(r.Tools) > 0 && s.refusal != nil {
			yield(session.Done{Stop: session.StopError, Err: s.refusal})
			return
		}
		if yield(session.Text{Delta: "well"}) {
			yield(session.Done{Stop: session.StopEnd})
		}
	}
}

func request(messages ...session.Message) session.Request {
	return session.Request{Model: "m", System: "you are a test", Messages: messages, ToolsDigest: "d", Choice: session.ChooseSome,
		Tools: []tool.Definition{{Name: "read", Description: "Read a file.", Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}}
}

func says(id, text string) session.Message {
	return session.Message{ID: id, Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}
}

func askTools(p session.Provider, r session.Request) (text string, done session.Done) {
	for c := range p.Stream(context.Background(), r) {
		switch c := c.(type) {
		case session.Text:
			text += c.Delta
		case session.Done:
			done = c
		}
	}
	return text, done
}

// The wordings are those of public servers; names are made up.
func TestWordingsOfARefusalOfTools(t *testing.T) {
	for said, kind := range map[string]session.ErrorKind{
		`ollama: registry.ollama.ai/library/poet:latest does not support tools`:                  session.RequestError,
		`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`: session.RequestError,
		`tools param requires --jinja flag`:                                                      session.ServerError,
		`No endpoints found that support tool use. To learn more, see the docs`:                  session.NoModelError,
		"`tool calling` is not supported with this model":                                        session.RequestError,
		`Function calling is not enabled for models/gemma-3-1b-it`:                               session.RequestError,
		`poet-reasoner does not support Function Calling`:                                        session.RequestError,
	} {
		s := &refuser{refusal: &session.ProviderError{Kind: kind, Status: 400, Message: said}}
		p := local.Describe(local.Tools{})(s)
		text, done := askTools(p, request(says("m1", "hi")))
		if text != "well" || done.Err != nil || !strings.Contains(done.Notice, "m takes no tools") || len(s.asked) != 2 {
			t.Errorf("%s: %q, %+v, asked %d times", said, text, done, len(s.asked))
		}
		if _, done = askTools(p, request(says("m1", "hi"))); done.Notice != "" || len(s.asked) != 3 {
			t.Errorf("%s: the second request: %+v, asked %d times", said, done, len(s.asked))
		}
	}
	for _, said := range []string{"the model does not exist", "tool_choice is not valid", "the tools are overloaded", "images are not supported", "invalid schema for function 'read'"} {
		s := &refuser{refusal: &session.ProviderError{Kind: session.RequestError, Status: 400, Message: said}}
		if _, done := askTools(local.Describe(local.Tools{})(s), request(says("m1", "hi"))); !errors.Is(done.Err, s.refusal) || len(s.asked) != 1 {
			t.Errorf("%q is taken for a refusal of tools", said)
		}
	}
}

func TestTheConversationBecomesText(t *testing.T) {
	s := &refuser{refusal: &session.ProviderError{Kind: session.RequestError, Status: 400, Message: "m does not support tools"}}
	p := local.Describe(local.Tools{})(s)
	called := session.Message{ID: "m2", Role: session.Assistant, Parts: []session.Part{
		{Kind: session.TextPart, Text: "I look."},
		{Kind: session.CallPart, Call: &tool.RawCall{ID: "c1", Name: "read", Arguments: `{"path":"a.txt"}`}},
		{Kind: session.CallPart, Call: &tool.RawCall{ID: "c2", Name: "read", Arguments: `{"path":`}},
	}}
	results := session.Message{ID: "m3", Role: session.ToolRole, Parts: []session.Part{
		{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: "c1", Tool: "read", Output: "hello"}},
		{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: "c2", Tool: "read", Output: "not JSON"}},
	}}
	askTools(p, request(says("m1", "hi"), called, results, says("m4", "go on")))
	askTools(p, request(says("m1", "hi"), called, results, says("m4", "go on"), session.Message{ID: "m5", Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: "well"}}}))
	first, second := s.asked[1], s.asked[2]
	if len(first.Tools) != 0 || first.Choice != session.ChooseFreely || !strings.HasPrefix(first.System, "you are a test\n") ||
		!strings.Contains(first.System, `{"name":"read","description":"Read a file.","parameters":{"type":"object"`) {
		t.Errorf("%+v", first)
	}
	var roles []string
	for i, m := range first.Messages {
		roles = append(roles, string(m.Role))
		if second.Messages[i].ID != m.ID || second.Messages[i].Text() != m.Text() {
			t.Errorf("message %d changed: %q %q", i, m.Text(), second.Messages[i].Text())
		}
	}
	if strings.Join(roles, " ") != "user assistant user" {
		t.Errorf("%q", roles)
	}
	if got, want := first.Messages[1].Text(), "I look.\n<tool_call>\n{\"name\":\"read\",\"arguments\":{\"path\":\"a.txt\"}}\n</tool_call>\n<tool_call>\n{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\"}\n</tool_call>"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := first.Messages[2].Text(), "<tool_response name=\"read\">\nhello\n</tool_response>\n<tool_response name=\"read\">\nnot JSON\n</tool_response>\n\ngo on"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
