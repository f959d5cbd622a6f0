package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/wire"
	"adze/internal/testkit/llmtest"
	"adze/session"
	"adze/tool"
)

func ask(t *testing.T, o anthropic.Options, body string, r session.Request) (*llmtest.Keeper, []session.Chunk) {
	t.Helper()
	k := &llmtest.Keeper{Answers: []llmtest.Reply{{Status: http.StatusOK, Body: body}}}
	o.HTTP = &http.Client{Transport: k}
	return k, llmtest.Ask(t, anthropic.New(o), r)
}

func fine() string {
	return `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}` + "\n\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
}

func text(id string, role session.Role, s string) session.Message {
	return session.Message{ID: id, Role: role, Parts: []session.Part{{Kind: session.TextPart, Text: s}}}
}

func TestCacheMarkers(t *testing.T) {
	r := session.Request{Model: "m", System: "be", ToolsDigest: "d", Tools: []tool.Definition{
		{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "b", Parameters: json.RawMessage(`{"type":"object"}`)},
	}, Messages: []session.Message{
		text("1", session.User, "one"), text("2", session.Assistant, "A"), text("3", session.User, "two"),
		text("4", session.Assistant, "B"), text("5", session.User, "three"),
	}}
	k, _ := ask(t, anthropic.Options{}, fine(), r)
	const marked = `,"cache_control":{"type":"ephemeral"}}`
	for _, s := range []string{
		`{"name":"b","description":"","input_schema":{"properties":{},"type":"object"}` + marked + `]`,
		`"system":[{"type":"text","text":"be"` + marked + `]`,
		`{"type":"text","text":"two"` + marked + `]`,
		`{"type":"text","text":"three"` + marked + `]`,
	} {
		if !strings.Contains(k.Bodies[0], s) {
			t.Errorf("no %s in %s", s, k.Bodies[0])
		}
	}
	if n := strings.Count(k.Bodies[0], marked); n != 4 {
		t.Errorf("%d markers in %s", n, k.Bodies[0])
	}
}

// What a stream sealed goes back in its order and unchanged, but only to the provider that made it.
func TestThinkingGoesBackUnchanged(t *testing.T) {
	stream := `data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"A <&> ä","signature":"s1=="}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{"p": 1.50}}}

data: {"type":"content_block_stop","index":1}

data: {"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"c2VjcmV0"}}

data: {"type":"content_block_stop","index":2}

data: {"type":"content_block_start","index":3,"content_block":{"type":"text","text":"Then:"}}

data: {"type":"content_block_stop","index":3}

data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t2","name":"list","input":{}}}

data: {"type":"content_block_stop","index":4}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}

data: {"type":"message_stop"}

`
	_, chunks := ask(t, anthropic.Options{}, stream, session.Request{Model: "m"})
	m := llmtest.Stored("anthropic", "a", chunks)
	for provider, want := range map[string]string{
		"anthropic": `[{"type":"thinking","thinking":"A <&> ä","signature":"s1=="},` +
			`{"type":"tool_use","id":"t1","name":"read","input":{"p":1.50}},` +
			`{"type":"redacted_thinking","data":"c2VjcmV0"},{"type":"text","text":"Then:"},` +
			`{"type":"tool_use","id":"t2","name":"list","input":{}}]`,
		"openai": `[{"type":"text","text":"Then:"},` +
			`{"type":"tool_use","id":"t1","name":"read","input":{"p":1.50}},{"type":"tool_use","id":"t2","name":"list","input":{}}]`,
	} {
		m.Provider = provider
		k, _ := ask(t, anthropic.Options{}, fine(), session.Request{Model: "m", Messages: []session.Message{text("u", session.User, "go"), m}})
		if !strings.Contains(k.Bodies[0], `{"role":"assistant","content":`+want+`}`) {
			t.Errorf("%s: no %s in %s", provider, want, k.Bodies[0])
		}
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		name, want string
		options    anthropic.Options
		request    session.Request
	}{
		{"a recent model", `{"model":"claude-sonnet-4-5","max_tokens":32000,"stream":true,`, anthropic.Options{}, session.Request{Model: "claude-sonnet-4-5"}},
		{"an older model", `{"model":"claude-3-5-haiku","max_tokens":8192,`, anthropic.Options{}, session.Request{Model: "claude-3-5-haiku"}},
		{"an old model", `"max_tokens":4096,`, anthropic.Options{}, session.Request{Model: "claude-3-haiku-20240307"}},
		{"configured", `"max_tokens":100,`, anthropic.Options{MaxTokens: 100}, session.Request{}},
		{"asked", `"max_tokens":50,`, anthropic.Options{MaxTokens: 100}, session.Request{MaxTokens: 50}},
		{"a budget", `"max_tokens":9216,"stream":true,"thinking":{"type":"enabled","budget_tokens":8192},`,
			anthropic.Options{Effort: "medium"}, session.Request{Model: "claude-opus-4-5-20251101", MaxTokens: 50}},
		{"an older model's budget", `"thinking":{"type":"enabled","budget_tokens":2048}`,
			anthropic.Options{Effort: "low"}, session.Request{Model: "claude-sonnet-4-20250514"}},
		{"thinking as much as it needs", `"max_tokens":32000,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}`,
			anthropic.Options{Effort: "high"}, session.Request{Model: "claude-opus-4-6"}},
		{"a new model", `"thinking":{"type":"adaptive"`, anthropic.Options{Effort: "high"}, session.Request{Model: "claude-sonnet-5-5"}},
		{"no calls", `"tool_choice":{"type":"none"}`, anthropic.Options{}, session.Request{Tools: oneTool(), Choice: session.ChooseNone}},
		{"some call", `"tool_choice":{"type":"any"}`, anthropic.Options{}, session.Request{Tools: oneTool(), Choice: session.ChooseSome}},
		{"one call", `"tool_choice":{"type":"tool","name":"a"}`, anthropic.Options{}, session.Request{Tools: oneTool(), Choice: "a"}},
	} {
		k, _ := ask(t, c.options, fine(), c.request)
		if !strings.Contains(k.Bodies[0], c.want) {
			t.Errorf("%s: no %s in %s", c.name, c.want, k.Bodies[0])
		}
		if beta := k.Header.Get("Anthropic-Beta"); (beta != "") != (c.options.Effort != "") {
			t.Errorf("%s: beta %q", c.name, beta)
		}
	}
}

func oneTool() []tool.Definition {
	return []tool.Definition{{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)}}
}

// A model that cannot be forced to call while it thinks is not asked to.
func TestChoiceWhileThinking(t *testing.T) {
	k, _ := ask(t, anthropic.Options{Effort: "low"}, fine(), session.Request{Tools: oneTool(), Choice: session.ChooseSome})
	if strings.Contains(k.Bodies[0], "tool_choice") {
		t.Error(k.Bodies[0])
	}
}

// What a model refuses of its thinking is left out, and remembered.
func TestRefusedThinking(t *testing.T) {
	for model, c := range map[string]struct {
		refusals []string
		want     string
	}{
		"claude-opus-4-5":   {[]string{`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`}, `"thinking":{"type":"adaptive"`},
		"claude-x":          {[]string{`adaptive thinking is not supported on this model`}, `"thinking":{"type":"enabled","budget_tokens":24000}`},
		"claude-opus-4-6":   {[]string{`thinking.adaptive.display: Extra inputs are not permitted`, `output_config: Extra inputs are not permitted`}, `"thinking":{"type":"adaptive"},"messages"`},
		"claude-sonnet-4-6": {[]string{`output_config.effort: Input should be 'low', 'medium', 'high'`}, `"output_config":{"effort":"high"}`},
		"claude-haiku-3-5":  {[]string{`'claude-haiku-3-5' does not support thinking.`}, `"stream":true,"messages"`},
	} {
		k := &llmtest.Keeper{}
		for _, said := range c.refusals {
			k.Answers = append(k.Answers, llmtest.Reply{Status: http.StatusBadRequest, Body: `{"type":"error","error":{"type":"invalid_request_error","message":` + string(wire.JSON(said)) + `}}`})
		}
		k.Answers = append(k.Answers, llmtest.Reply{Status: http.StatusOK, Body: fine()})
		p := anthropic.New(anthropic.Options{Effort: "max", HTTP: &http.Client{Transport: k}})
		llmtest.Ask(t, p, session.Request{Model: model}, session.Request{Model: model})
		last := k.Bodies[len(k.Bodies)-1]
		if len(k.Bodies) != len(c.refusals)+2 || !strings.Contains(last, c.want) {
			t.Errorf("%s: %d requests, no %s in %s", model, len(k.Bodies), c.want, last)
		}
	}
}

// A server that signs no thinking and wants it back gets it, of calls without any an empty one;
// others never do.
func TestThinkingWithoutASealThatIsWanted(t *testing.T) {
	call := func(id tool.CallID) session.Part {
		return session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: id, Name: "read", Arguments: "{}"}}
	}
	outcome := func(id string, call tool.CallID) session.Message {
		return session.Message{ID: id, Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: call, Tool: "read", Status: tool.Completed, Output: "x"}}}}
	}
	r := session.Request{Model: "m", Messages: []session.Message{
		{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "go"}}},
		{ID: "2", Role: session.Assistant, Provider: "anthropic", Model: "m", Parts: []session.Part{{Kind: session.ReasoningPart, Text: "Hm."}, call("a")}},
		outcome("3", "a"),
		{ID: "4", Role: session.Assistant, Provider: "other", Parts: []session.Part{call("b")}},
		outcome("5", "b"),
	}}
	k := &llmtest.Keeper{Answers: []llmtest.Reply{
		{Status: http.StatusBadRequest, Body: `{"error":{"message":"The ` + "`content[].thinking`" + ` in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`},
		{Status: http.StatusOK, Body: fine()},
	}}
	llmtest.Ask(t, anthropic.New(anthropic.Options{HTTP: &http.Client{Transport: k}}), r, r)
	if len(k.Bodies) != 3 || strings.Contains(k.Bodies[0], `"thinking"`) {
		t.Fatalf("%d requests, the first %s", len(k.Bodies), k.Bodies[0])
	}
	for _, body := range k.Bodies[1:] {
		for _, want := range []string{
			`[{"type":"thinking","thinking":"Hm.","signature":""},{"type":"tool_use","id":"a"`,
			`[{"type":"thinking","thinking":".","signature":""},{"type":"tool_use","id":"b"`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("no %s in %s", want, body)
			}
		}
	}
}

// What a request says of the effort goes before the configuration; each kind of model gets it in
// its own way.
func TestTheRequestsEffort(t *testing.T) {
	for effort, want := range map[string][2]string{
		"max": {`"output_config":{"effort":"max"}`, `"budget_tokens":24000`}, "minimal": {`"output_config":{"effort":"low"}`, `"budget_tokens":1024`},
		"none": {`"stream":true,"messages"`, `"stream":true,"messages"`},
	} {
		for i, model := range []string{"claude-opus-4-7", "claude-sonnet-4-5"} {
			k, _ := ask(t, anthropic.Options{Effort: "medium"}, fine(), session.Request{Model: model, Effort: effort})
			if !strings.Contains(k.Bodies[0], want[i]) {
				t.Errorf("%s %s: no %s in %s", model, effort, want[i], k.Bodies[0])
			}
		}
	}
}

func TestAddressAndKey(t *testing.T) {
	for base, want := range map[string]string{
		"": "https://api.anthropic.com/v1/messages", "http://a.test": "http://a.test/v1/messages",
		"http://a.test/v1/": "http://a.test/v1/messages", "http://a.test/x": "http://a.test/x/v1/messages",
	} {
		k, _ := ask(t, anthropic.Options{BaseURL: base, Key: "k"}, fine(), session.Request{})
		if k.URL != want || k.Header.Get("X-Api-Key") != "k" || k.Header.Get("Anthropic-Version") == "" {
			t.Errorf("%q: %s %v", base, k.URL, k.Header)
		}
	}
}
