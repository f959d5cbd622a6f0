package responses_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"adze/internal/llm/responses"
	"adze/internal/testkit/llmtest"
	"adze/session"
	"adze/tool"
)

func refusal(message string) llmtest.Reply {
	return llmtest.Reply{Status: http.StatusBadRequest, Body: fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, message)}
}

func fine() llmtest.Reply {
	return llmtest.Reply{Status: http.StatusOK, Body: `data: {"type":"response.output_text.delta","delta":"ok"}` + "\n\n" + `data: {"type":"response.completed","response":{"status":"completed","output":[]}}` + "\n\n"}
}

// ask sends requests with one provider and fails when one fails.
func ask(t *testing.T, o responses.Options, answers []llmtest.Reply, requests ...session.Request) (*llmtest.Keeper, []session.Chunk) {
	t.Helper()
	k := &llmtest.Keeper{Answers: answers}
	o.HTTP = &http.Client{Transport: k}
	return k, llmtest.Ask(t, responses.New(o), requests...)
}

func want(t *testing.T, body string, have []string, avoid ...string) {
	t.Helper()
	for _, s := range have {
		if !strings.Contains(body, s) {
			t.Errorf("no %s in %s", s, body)
		}
	}
	for _, s := range avoid {
		if strings.Contains(body, s) {
			t.Errorf("%s in %s", s, body)
		}
	}
}

func text(id string, role session.Role, s string) session.Message {
	return session.Message{ID: id, Role: role, Parts: []session.Part{{Kind: session.TextPart, Text: s}}}
}

// What a stream sealed goes back in its order and byte for byte, and a message with its phase, as
// ai 7.0.173 with @ai-sdk/openai 4.0.118 sends it, but only to the provider that made it.
func TestReasoningGoesBackUnchanged(t *testing.T) {
	const first = `{"id":"rs_1","type":"reasoning","encrypted_content":"gAA<&>B+/=","summary":[{"type":"summary_text","text":"Look"}],"new":[1.50]}`
	const second = `{"id":"rs_2","type":"reasoning","encrypted_content":"gB","summary":[]}`
	const unsealed = `{"id":"rs_3","type":"reasoning","encrypted_content":null,"summary":[]}`
	stream := "data: " + `{"type":"response.output_item.done","output_index":0,"item":` + first + "}\n\n" +
		"data: " + `{"type":"response.output_item.done","output_index":5,"item":{"id":"m_1","type":"message","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}}` + "\n\n" +
		"data: " + `{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"a","name":"read","arguments":"{\"p\": 1.50}"}}` + "\n\n" +
		"data: " + `{"type":"response.output_item.done","output_index":2,"item":` + second + "}\n\n" +
		"data: " + `{"type":"response.output_item.done","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"b","name":"list","arguments":"{}"}}` + "\n\n" +
		"data: " + `{"type":"response.output_item.done","output_index":4,"item":` + unsealed + "}\n\n" +
		"data: " + `{"type":"response.completed","response":{"status":"completed"}}` + "\n\n"
	_, chunks := ask(t, responses.Options{}, []llmtest.Reply{{Status: http.StatusOK, Body: stream}}, session.Request{Model: "m"})
	m := llmtest.Stored("responses", "a", chunks)
	const call1 = `{"type":"function_call","call_id":"a","name":"read","arguments":"{\"p\": 1.50}"}`
	const call2 = `{"type":"function_call","call_id":"b","name":"list","arguments":"{}"}`
	const told = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]`
	for provider, items := range map[string]string{
		"responses": first + "," + told + `,"phase":"commentary"},` + call1 + "," + second + "," + call2 + `,{"type":"function_call_output"`,
		"anthropic": told + "}," + call1 + "," + call2 + `,{"type":"function_call_output"`,
	} {
		m.Provider = provider
		k, _ := ask(t, responses.Options{}, []llmtest.Reply{fine()}, session.Request{Model: "m", Messages: []session.Message{text("u", session.User, "go"), m}})
		want(t, k.Bodies[0], []string{`"content":[{"type":"input_text","text":"go"}]},` + items})
	}
}

// Reasoning that nothing follows was cut off with its answer.
func TestReasoningAtTheEndIsLeftOut(t *testing.T) {
	seal := func(id string) session.Part {
		return session.Part{Kind: session.ReasoningPart, Opaque: json.RawMessage(`{"type":"reasoning","id":"` + id + `","encrypted_content":"g"}`)}
	}
	m := session.Message{ID: "1", Role: session.Assistant, Provider: "responses", Parts: []session.Part{
		seal("rs_kept"), {Kind: session.TextPart, Text: "half"}, seal("rs_cut"),
	}}
	k, _ := ask(t, responses.Options{}, []llmtest.Reply{fine()}, session.Request{Model: "m", Messages: []session.Message{m}})
	want(t, k.Bodies[0], []string{"rs_kept", `"output_text","text":"half"`}, "rs_cut")
}

func TestEffort(t *testing.T) {
	refusal := llmtest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported value: 'xhigh' is not supported with the 'm' model. Supported values are: 'low', 'medium', and 'high'.","param":"reasoning.effort"}}`}
	for effort, word := range map[string]string{"": "medium", "low": "low", "max": "xhigh"} {
		k, _ := ask(t, responses.Options{Effort: "medium"}, []llmtest.Reply{fine()}, session.Request{Model: "m", Effort: effort})
		want(t, k.Bodies[0], []string{`"reasoning":{"effort":"` + word + `"`})
	}
	k, _ := ask(t, responses.Options{}, []llmtest.Reply{refusal, fine()}, session.Request{Model: "m", Effort: "max"})
	want(t, k.Bodies[1], []string{`"reasoning":{"effort":"high","summary":"auto"}`})
}

func TestHostedAndCompatibleServersDiffer(t *testing.T) {
	shown := []tool.Attachment{
		{Name: "a.png", MediaType: "image/png", Data: llmtest.Pixel()}, {Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")},
	}
	messages := []session.Message{
		text("1", session.User, "go"),
		{ID: "2", Role: session.Assistant, Provider: "responses", Parts: []session.Part{
			{Kind: session.ReasoningPart, Text: "hm", Opaque: json.RawMessage(`{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`)},
			{Kind: session.CallPart, Call: &tool.RawCall{ID: "a", Name: "read"}},
		}},
		{ID: "3", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{
			Call: "a", Tool: "read", Status: tool.Completed, Output: "two files", Attachments: shown,
		}}}},
	}
	for _, c := range []struct {
		base, url   string
		have, avoid []string
	}{
		{"", "https://api.openai.com/v1/responses", []string{
			`"call_id":"a","output":[{"type":"input_text","text":"two files"},{"type":"input_image","image_url":"data:image/png;base64,` + llmtest.PixelText + `"},` +
				`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}]`,
		}, []string{"rs_1"}},
		{"http://local.test:8080/v1/", "http://local.test:8080/v1/responses", []string{
			`"output":"two files\n[a.png is in the next message]\n[attachment a.pdf (application/pdf, 4 bytes) cannot be shown to this model]"},` +
				`{"type":"message","role":"user","content":[{"type":"input_image"`, "rs_1",
		}, []string{"file_data"}},
	} {
		k, _ := ask(t, responses.Options{BaseURL: c.base, Key: "sk-12345678", MaxTokens: 77, Effort: "low"}, []llmtest.Reply{fine()},
			session.Request{Model: "m", System: "be", Messages: messages})
		if k.URL != c.url || k.Header.Get("Authorization") != "Bearer sk-12345678" {
			t.Errorf("%s with %v", k.URL, k.Header)
		}
		want(t, k.Bodies[0], append(c.have, `"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],`+
			`"reasoning":{"effort":"low","summary":"auto"},"max_output_tokens":77,"instructions":"be"`), c.avoid...)
	}
}

// What a model refuses is left out, at once and from then on, for this model alone.
func TestRefusedPartsAreLeftOut(t *testing.T) {
	sealed := session.Message{ID: "1", Role: session.Assistant, Provider: "responses", Parts: []session.Part{
		{Kind: session.ReasoningPart, Opaque: json.RawMessage(`{"type":"reasoning","id":"rs_1","encrypted_content":"g","summary":[]}`)},
		{Kind: session.TextPart, Text: "So."},
	}}
	for _, c := range []struct{ said, gone string }{
		{"Encrypted content is not supported with this model.", `"include"`},
		{"Unsupported parameter: 'reasoning.summary' is not supported with this model.", `"summary":"auto"`},
		{"Your organization must be verified to generate reasoning summaries.", `"summary":"auto"`},
		{"The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.", `rs_1`},
	} {
		r := session.Request{Model: "m", Messages: []session.Message{text("0", session.User, "go"), sealed, text("2", session.User, "on")}}
		other := r
		other.Model = "other"
		k, _ := ask(t, responses.Options{}, []llmtest.Reply{refusal(c.said), fine()}, r, r, other)
		if len(k.Bodies) != 4 {
			t.Fatalf("%s: asked %d times", c.said, len(k.Bodies))
		}
		for i, has := range []bool{true, false, false, true} {
			if strings.Contains(k.Bodies[i], c.gone) != has {
				t.Errorf("%s: request %d: %s", c.said, i, k.Bodies[i])
			}
		}
	}
}

func TestChoice(t *testing.T) {
	tools := []tool.Definition{{Name: "t", Parameters: json.RawMessage(`{"type":"object"}`)}}
	for choice, piece := range map[session.Choice]string{
		session.ChooseNone: `"tool_choice":"none"`, session.ChooseSome: `"tool_choice":"required"`, "t": `"tool_choice":{"type":"function","name":"t"}`,
	} {
		k, _ := ask(t, responses.Options{}, []llmtest.Reply{fine()}, session.Request{Model: "m", Tools: tools, Choice: choice})
		want(t, k.Bodies[0], []string{piece})
	}
}

func TestStrictOnlyWhereTheSchemaAllowsIt(t *testing.T) {
	on, off := true, false
	for schema, fits := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`:                                       true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{}}}}},"required":["a"],"additionalProperties":false}`: false,
	} {
		for _, strict := range []*bool{nil, &on, &off} {
			k, _ := ask(t, responses.Options{}, []llmtest.Reply{fine()}, session.Request{Model: "m", Tools: []tool.Definition{
				{Name: "t", Description: "d", Parameters: json.RawMessage(schema), Strict: strict},
			}})
			flag := fmt.Sprint(fits && strict == &on)
			want(t, k.Bodies[0], []string{`"tools":[{"type":"function","name":"t","description":"d","parameters":` + schema + `,"strict":` + flag + `}]`})
		}
	}
}

// Ids of calls go back as they came; they are rewritten where the server refused them, from then
// on.
func TestIDsOfCallsGoBackUnchanged(t *testing.T) {
	const id = "functions.read:0"
	r := session.Request{Model: "m", Messages: []session.Message{
		{ID: "1", Role: session.Assistant, Parts: []session.Part{{Kind: session.CallPart, Call: &tool.RawCall{ID: id, Name: "read", Arguments: "{}"}}}},
		{ID: "2", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: id, Tool: "read", Output: "ok"}}}},
	}}
	k, _ := ask(t, responses.Options{}, []llmtest.Reply{fine()}, r)
	if n := strings.Count(k.Bodies[0], `"call_id":"`+id+`"`); n != 2 {
		t.Errorf("the id stands %d times in %s", n, k.Bodies[0])
	}
	k, _ = ask(t, responses.Options{}, []llmtest.Reply{refusal("Invalid 'input[0].call_id': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."), fine()}, r, r)
	if len(k.Bodies) != 3 || strings.Contains(k.Bodies[1]+k.Bodies[2], id) || k.Bodies[1] != k.Bodies[2] {
		t.Errorf("%d requests: %s", len(k.Bodies), k.Bodies[len(k.Bodies)-1])
	}
}
