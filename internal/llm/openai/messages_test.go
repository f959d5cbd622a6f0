package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"adze/internal/llm/openai"
	"adze/internal/testkit/llmtest"
	"adze/session"
	"adze/tool"
)

// asked sends a request to a host and returns the body of the last attempt.
func asked(t *testing.T, o openai.Options, r session.Request, responses ...func() *http.Response) (string, *transport) {
	t.Helper()
	if len(responses) == 0 {
		responses = append(responses, respond(200, fine))
	}
	tr := &transport{responses: responses}
	o.HTTP = &http.Client{Transport: tr}
	p := openai.New(o)
	for range 2 { // the second time with what was learned
		if done := last(p, r); done.Err != nil {
			t.Fatal(done.Err)
		}
	}
	if n := len(tr.bodies); tr.bodies[n-1] != tr.bodies[n-2] {
		t.Errorf("the same request is sent in other bytes:\n%s\n%s", tr.bodies[n-2], tr.bodies[n-1])
	}
	return tr.bodies[len(tr.bodies)-1], tr
}

func words(kind session.PartKind, text string, opaque string) session.Part {
	p := session.Part{Kind: kind, Text: text}
	if opaque != "" {
		p.Opaque = json.RawMessage(opaque)
	}
	return p
}

// loop is a conversation with a tool turn, a plain turn, and a turn of another provider.
func loop(provider, opaque string) []session.Message {
	call := func(id tool.CallID) session.Part {
		return session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: id, Name: "read", Arguments: `{"p":1}`}}
	}
	result := func(id tool.CallID) session.Part {
		return session.Part{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: id, Tool: "read", Output: "ok"}}
	}
	return []session.Message{
		{ID: "1", Role: session.User, Parts: []session.Part{words(session.TextPart, "one", "")}},
		{ID: "2", Role: session.Assistant, Provider: provider, Model: "m", Parts: []session.Part{
			words(session.ReasoningPart, "hm", opaque), words(session.TextPart, "I look.", ""), call("call_1")}},
		{ID: "3", Role: session.ToolRole, Parts: []session.Part{result("call_1")}},
		{ID: "4", Role: session.Assistant, Provider: provider, Model: "m", Parts: []session.Part{
			words(session.ReasoningPart, "so", opaque), words(session.TextPart, "It is.", "")}},
		{ID: "5", Role: session.User, Parts: []session.Part{words(session.TextPart, "two", "")}},
		{ID: "6", Role: session.Assistant, Provider: "other", Model: "m", Parts: []session.Part{
			words(session.ReasoningPart, "secret", opaque), call("call_2")}},
		{ID: "7", Role: session.ToolRole, Parts: []session.Part{result("call_2")}},
		{ID: "8", Role: session.User, Parts: []session.Part{words(session.TextPart, "stop", "")}},
	}
}

// holds checks which pieces a body has, with how often.
func holds(t *testing.T, body string, want map[string]int) {
	t.Helper()
	for piece, n := range want {
		if got := strings.Count(body, piece); got != n {
			t.Errorf("%d times %s, want %d, in\n%s", got, piece, n, body)
		}
	}
}

// Servers differ in what they want back of the thinking.
func TestThinkingGoesBackWhereItIsWanted(t *testing.T) {
	unsupported := respond(400, `{"error":{"message":"'messages.1' : property 'reasoning_content' is unsupported","type":"invalid_request_error"}}`)
	demanded := respond(400, `{"error":{"message":"The `+"`reasoning_content`"+` in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`)
	for name, c := range map[string]struct {
		base      string
		responses []func() *http.Response
		requests  int
		want      map[string]int
	}{
		"a server like others":     {"http://a.test/v1", nil, 2, map[string]int{`"reasoning_content":"hm"`: 1, `"reasoning_content"`: 1}},
		"api.openai.com":           {"", nil, 2, map[string]int{`reasoning`: 0}},
		"DeepSeek":                 {"https://api.deepseek.com/v1", nil, 2, map[string]int{`"reasoning_content":"hm"`: 1, `"reasoning_content":"so"`: 1, `"reasoning_content":"."`: 1}},
		"Groq":                     {"https://api.groq.com/openai/v1", nil, 2, map[string]int{`reasoning`: 0}},
		"a server that refuses it": {"http://a.test/v1", []func() *http.Response{unsupported, respond(200, fine)}, 3, map[string]int{`reasoning`: 0}},
		"a server that demands it": {"http://a.test/v1", []func() *http.Response{demanded, respond(200, fine)}, 3, map[string]int{`"reasoning_content":"."`: 1, `"reasoning_content"`: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			body, tr := asked(t, openai.Options{Name: "p", BaseURL: c.base}, session.Request{Model: "m", Messages: loop("p", "")}, c.responses...)
			if len(tr.bodies) != c.requests {
				t.Errorf("%d requests, want %d", len(tr.bodies), c.requests)
			}
			c.want["secret"] = 0
			holds(t, body, c.want)
		})
	}
}

// Thinking goes back in the field in which it came.
func TestThinkingGoesBackInItsField(t *testing.T) {
	for field, other := range map[string]string{"reasoning": "reasoning_content", "reasoning_content": "reasoning"} {
		said := `data: {"choices":[{"index":0,"delta":{"` + field + `":"so I"}}]}` + "\n\n" + `data: {"choices":[{"index":0,"delta":{"` + field + `":" look","content":"I look."}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"functions.read:0","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
		tr := &transport{responses: []func() *http.Response{respond(200, said), respond(200, fine)}}
		p := openai.New(openai.Options{Name: "p", BaseURL: "http://a.test/v1", HTTP: &http.Client{Transport: tr}})
		m := session.Message{ID: "1", Role: session.Assistant, Provider: "p", Model: "m"}
		for c := range p.Stream(t.Context(), session.Request{Model: "m"}) {
			switch c := c.(type) {
			case session.Reasoning:
				m.Parts = append(m.Parts, words(session.ReasoningPart, c.Delta, string(c.Opaque)))
			case session.Call:
				m.Parts = append(m.Parts, session.Part{Kind: session.CallPart, Call: &c.RawCall})
			}
		}
		if done := last(p, session.Request{Model: "m", Messages: []session.Message{m}}); done.Err != nil {
			t.Fatal(done.Err)
		}
		holds(t, tr.bodies[1], map[string]int{`"` + field + `":"so I look"`: 1, `"` + other + `"`: 0, `"id":"functions.read:0"`: 1, `"tool_call_id":"functions.read:0"`: 1})
	}
}

// Ids go back as they came; they are rewritten where the server refused them, from then on.
func TestIDsOfCallsGoBackUnchanged(t *testing.T) {
	history := func(id tool.CallID) session.Request {
		m := loop("p", "")[:3]
		m[1].Parts[2].Call.ID, m[2].Parts[0].Outcome.Call = id, id
		return session.Request{Model: "m", Messages: m}
	}
	long := tool.CallID("chatcmpl-tool-" + strings.Repeat("f", 32)) // vLLM's
	for _, id := range []tool.CallID{"functions.read:0", "call_1", "c.1/ü", long} {
		body, _ := asked(t, openai.Options{Name: "p", BaseURL: "http://a.test/v1"}, history(id))
		holds(t, body, map[string]int{`"id":"` + string(id) + `"`: 1, `"tool_call_id":"` + string(id) + `"`: 1})
	}
	body, _ := asked(t, openai.Options{Name: "p"}, history(long)) // api.openai.com
	holds(t, body, map[string]int{string(long): 0})
	body, tr := asked(t, openai.Options{Name: "p", BaseURL: "http://a.test/v1"}, history("functions.read:0"),
		respond(400, `{"error":{"message":"messages[1].tool_calls[0].id: String should match pattern '^[a-zA-Z0-9_-]+$'","type":"invalid_request_error"}}`),
		respond(200, fine))
	if holds(t, body, map[string]int{"functions.read:0": 0, `"id":"functions_read_0`: 1}); len(tr.bodies) != 3 {
		t.Errorf("%d requests", len(tr.bodies))
	}
}

// What OpenRouter sealed goes back to the model that made it, in place of the words.
func TestReasoningDetailsGoBack(t *testing.T) {
	opaque := `{"details":[{"type":"reasoning.encrypted","data":"<x>"}]}`
	for model, want := range map[string]int{"m": 2, "n": 0} {
		body, _ := asked(t, openai.Options{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1"},
			session.Request{Model: model, Messages: loop("openrouter", opaque)})
		holds(t, body, map[string]int{`"reasoning_details":[{"type":"reasoning.encrypted","data":"<x>"}]`: want, "<x>": want})
	}
}

func TestMistral(t *testing.T) {
	body, _ := asked(t, openai.Options{Name: "mistral", BaseURL: "https://api.mistral.ai/v1"},
		session.Request{Model: "m", Messages: loop("mistral", `{"chunk":true}`)})
	holds(t, body, map[string]int{
		`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"I look."}]`: 1,
		`"content":[{"type":"thinking","thinking":[{"type":"text","text":"so"}]},{"type":"text","text":"It is."}]`:  1,
		`secret`: 0, `reasoning_content`: 0, `"call_1"`: 0,
		`{"role":"assistant","content":"(continued)"},{"role":"user","content":"stop"}`: 1,
	})
	// Another server learns the same from refusals.
	learned, tr := asked(t, openai.Options{Name: "mistral", BaseURL: "http://a.test/v1"},
		session.Request{Model: "m", Messages: loop("mistral", `{"chunk":true}`)},
		respond(400, `{"object":"error","message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","code":"3280"}`),
		respond(400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`),
		respond(200, fine))
	if learned != body || len(tr.bodies) != 4 {
		t.Errorf("after %d requests:\n%s\nwant\n%s", len(tr.bodies), learned, body)
	}
	ids := map[string]bool{}
	for _, rest := range strings.Split(body, `"id":"`)[1:] {
		id, _, _ := strings.Cut(rest, `"`)
		if len(id) != 9 || !strings.Contains(body, `"tool_call_id":"`+id+`"`) {
			t.Errorf("the id %q is not as Mistral wants it, or has no result", id)
		}
		ids[id] = true
	}
	if len(ids) != 2 {
		t.Errorf("the ids %v are not two", ids)
	}
}

// A picture in an outcome follows in a message of the user, with the assistant between where that
// is wanted.
func TestPicturesOfOutcomesAtMistral(t *testing.T) {
	m := loop("mistral", "")[:3]
	m[2].Parts[0].Outcome.Attachments = []tool.Attachment{{Name: "a.png", MediaType: "image/png", Data: llmtest.Pixel()}}
	body, _ := asked(t, openai.Options{Name: "mistral", BaseURL: "https://api.mistral.ai/v1"}, session.Request{Model: "m", Messages: m})
	holds(t, body, map[string]int{`{"role":"assistant","content":"(continued)"},{"role":"user","content":[{"type":"image_url"`: 1})
}

func TestCacheMarksAtOpenRouter(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	r := session.Request{Model: "anthropic/claude-sonnet-4.5", System: "be", Messages: loop("openrouter", "")}
	body, _ := asked(t, openai.Options{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1"}, r)
	holds(t, body, map[string]int{
		mark: 3,
		`{"role":"system","content":[{"type":"text","text":"be",` + mark + `}]}`: 1,
		`{"role":"tool","content":[{"type":"text","text":"ok",` + mark + `}],`:   1,
		`{"role":"user","content":[{"type":"text","text":"stop",` + mark + `}]}`: 1,
	})
	r.Model = "openai/gpt-5"
	body, _ = asked(t, openai.Options{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1"}, r)
	holds(t, body, map[string]int{mark: 0})
}

func TestStrictToolsAndChoice(t *testing.T) {
	yes := true
	r := session.Request{Model: "m", Choice: "read", Tools: []tool.Definition{
		{Name: "read", Strict: &yes, Parameters: json.RawMessage(`{"type":"object","properties":{"p":{"type":"string"},"n":{"type":["integer","null"]}},"required":["p","n"],"additionalProperties":false}`)},
		{Name: "any", Strict: &yes, Parameters: json.RawMessage(`{"type":"object","additionalProperties":true}`)},
		{Name: "loose", Parameters: json.RawMessage(`{"type":"object"}`)},
	}}
	body, _ := asked(t, openai.Options{}, r)
	holds(t, body, map[string]int{
		`{"name":"read","description":"","parameters":{"type":"object","properties":{"p":{"type":"string"},"n":{"type":["integer","null"]}},"required":["p","n"],"additionalProperties":false},"strict":true}`: 1,
		`{"name":"any","description":"","parameters":{"additionalProperties":true,"properties":{},"type":"object"},"strict":false}`:                                                                            1,
		`{"name":"loose","description":"","parameters":{"properties":{},"type":"object"}}`:                                                                                                                     1,
		`"tool_choice":{"type":"function","function":{"name":"read"}}`:                                                                                                                                         1,
	})
	if !*r.Tools[1].Strict {
		t.Error("the definition itself was changed")
	}
	for choice, want := range map[session.Choice]string{session.ChooseNone: `"tool_choice":"none"`, session.ChooseSome: `"tool_choice":"required"`} {
		r.Choice = choice
		body, _ = asked(t, openai.Options{BaseURL: "http://a.test"}, r)
		holds(t, body, map[string]int{want: 1, `"strict":true`: 2})
	}
	body, _ = asked(t, openai.Options{}, session.Request{Model: "m", Choice: session.ChooseNone})
	holds(t, body, map[string]int{"tool_choice": 0}) // refused without tools
}

func TestEffort(t *testing.T) {
	for base, want := range map[string]string{"": `"reasoning_effort":"high"`, "https://openrouter.ai/api/v1": `"reasoning":{"effort":"high"}`} {
		body, _ := asked(t, openai.Options{BaseURL: base, Effort: "high"}, session.Request{Model: "m"})
		holds(t, body, map[string]int{want: 1})
	}
	// What the request says goes before the configuration, in the nearest word that the format has.
	for effort, want := range map[string]string{"low": "low", "max": "xhigh", "none": "none", "own-word": "own-word"} {
		body, _ := asked(t, openai.Options{Effort: "medium"}, session.Request{Model: "m", Effort: effort})
		holds(t, body, map[string]int{`"reasoning_effort":"` + want + `"`: 1})
	}
	few, _ := asked(t, openai.Options{Effort: "max"}, session.Request{Model: "m"},
		respond(400, `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.","type":"invalid_request_error"}}`), respond(200, fine))
	holds(t, few, map[string]int{`"reasoning_effort":"high"`: 1})
	body, tr := asked(t, openai.Options{Effort: "high"}, session.Request{Model: "m"},
		respond(400, `{"error":{"message":"Unrecognized request argument supplied: reasoning_effort","type":"invalid_request_error"}}`), respond(200, fine))
	holds(t, body, map[string]int{"reasoning_effort": 0})
	if len(tr.bodies) != 3 {
		t.Errorf("%d requests", len(tr.bodies))
	}
}

// A whole turn: what a stream sealed is what goes back.
func TestRoundOfSeals(t *testing.T) {
	for base, stream := range map[string]string{
		"https://api.mistral.ai/v1":    `data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"A <&> ä"}]},{"type":"text","text":"b"},{"type":"thinking","thinking":[{"type":"text","text":"c"}]}]},"finish_reason":"stop"}]}` + "\n\n",
		"https://openrouter.ai/api/v1": `data: {"choices":[{"delta":{"content":"b","reasoning_details":[{"type":"reasoning.text","text":"A <&> ä","signature":"s","index":0}]},"finish_reason":"stop"}]}` + "\n\n",
	} {
		want := map[string]string{
			"https://api.mistral.ai/v1":    `"content":[{"type":"thinking","thinking":[{"type":"text","text":"A <&> ä"}]},{"type":"text","text":"b"},{"type":"thinking","thinking":[{"type":"text","text":"c"}]}]`,
			"https://openrouter.ai/api/v1": `"reasoning_details":[{"type":"reasoning.text","text":"A <&> ä","signature":"s","index":0}]`,
		}[base]
		tr := &transport{responses: []func() *http.Response{respond(200, stream)}}
		p := openai.New(openai.Options{BaseURL: base, HTTP: &http.Client{Transport: tr}})
		var chunks []session.Chunk
		r := session.Request{Model: "m", Messages: loop("openai", "")[:1]}
		for c := range p.Stream(context.Background(), r) {
			chunks = append(chunks, c)
		}
		m := llmtest.Stored("openai", "a", chunks)
		r.Messages = append(r.Messages, m)
		if done := last(p, r); done.Err != nil || !strings.Contains(tr.bodies[1], want) {
			t.Errorf("%v: no %s in\n%s", done.Err, want, tr.bodies[1])
		}
	}
}

// An id in which a gateway hides a signature goes back whole, but to api.openai.com; others are
// bounded.
func TestAnIDThatHoldsASignatureGoesBack(t *testing.T) {
	signed, long := "call_1__thought__"+strings.Repeat("Q+/=", 300), "call_"+strings.Repeat("x", 300)
	for _, c := range []struct {
		base, id string
		whole    int
	}{{"http://a.test/v1", signed, 2}, {"http://a.test/v1", long, 0}, {"", signed, 0}} {
		messages := []session.Message{
			{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "go"}}},
			{ID: "2", Role: session.Assistant, Provider: "p", Parts: []session.Part{{Kind: session.CallPart, Call: &tool.RawCall{ID: tool.CallID(c.id), Name: "read", Arguments: "{}"}}}},
			{ID: "3", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: tool.CallID(c.id), Tool: "read", Status: tool.Completed, Output: "x"}}}},
		}
		body, _ := asked(t, openai.Options{Name: "p", BaseURL: c.base}, session.Request{Model: "m", Messages: messages})
		holds(t, body, map[string]int{`"` + c.id + `"`: c.whole})
	}
}
