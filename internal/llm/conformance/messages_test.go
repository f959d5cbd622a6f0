package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"adze/internal/llm/wire"
)

// Messages is the format Messages as the suite sees it.
type Messages struct{ modelsOnly }

// Encode writes an answer as the server does.
func (Messages) Encode(a Answer) Stream {
	b := &Builder{ContentType: "text/event-stream; charset=utf-8"}
	event := func(kind, rest string) {
		b.Record("event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n")
	}
	event("message_start", fmt.Sprintf(`,"message":{"id":"m1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":%d,"cache_read_input_tokens":0,"output_tokens":1}}`, a.Usage.Input))
	index := 0
	block := func(start string, deltas ...string) {
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, index, start))
		for _, d := range deltas {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, index, d))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, index))
		index++
	}
	if a.Reasoning != "" {
		deltas := messagesDeltas(a, a.Reasoning, "thinking_delta", "thinking")
		block(`{"type":"thinking","thinking":"","signature":""}`, append(deltas, `{"type":"signature_delta","signature":"EqQB`+fmt.Sprint(len(a.Reasoning))+`=="}`)...)
	}
	if a.Text != "" {
		block(`{"type":"text","text":""}`, messagesDeltas(a, a.Text, "text_delta", "text")...)
	}
	for _, c := range a.Calls {
		deltas := append([]string{`{"type":"input_json_delta","partial_json":""}`}, messagesDeltas(a, c.Arguments, "input_json_delta", "partial_json")...)
		block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, c.ID, c.Name), deltas...)
	}
	stop := "end_turn"
	switch {
	case a.Length:
		stop = "max_tokens"
	case len(a.Calls) > 0:
		stop = "tool_use"
	}
	event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}`, stop, a.Usage.Output))
	b.End()
	event("message_stop", "")
	return b.Stream()
}

func messagesDeltas(a Answer, text, kind, field string) []string {
	var out []string
	for _, piece := range a.Pieces(text) {
		out = append(out, fmt.Sprintf(`{"type":%q,%q:%s}`, kind, field, wire.JSON(piece)))
	}
	return out
}

// Ping is a record without content.
func (Messages) Ping() string { return "event: ping\ndata: {\"type\": \"ping\"}\n\n" }

// Unknown are records that say nothing about the answer.
func (Messages) Unknown() []string {
	return []string{
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":77}\n\n",
		"event: usage_delta\ndata: {\"type\":\"usage_delta\",\"usage\":3}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":78,\"delta\":{\"type\":\"citations_delta\",\"citation\":{}}}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"\"},\"usage\":null}\n\n",
		`data: {"type":"content_block_start","index":79,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":79,"delta":{"type":"input_json_delta","partial_json":"{}"}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":79}` + "\n\n" +
			`data: {"type":"content_block_start","index":80,"content_block":{"type":"web_search_tool_result","tool_use_id":"s","content":[]}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":80}` + "\n\n",
	}
}

// Malformed is a damaged record.
func (Messages) Malformed() string {
	return "event: content_block_delta\ndata: {\"type\":\"content_bl\n\n"
}

// Failure is an error object in a stream.
func (Messages) Failure(message string) string {
	return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":%q}}\n\n", message)
}

// Refusal is the body of a failed request.
func (Messages) Refusal(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

// Grown removes what may grow.
func (Messages) Grown(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
	return bytes.TrimSuffix(body, []byte("]}]}"))
}

// messagesAsked is a request, strictly.
type messagesAsked struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	Thinking  *struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Tools []struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Schema      map[string]any `json:"input_schema"`
		Cache       any            `json:"cache_control"`
	} `json:"tools"`
	System   []messagesBlock `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content []messagesBlock `json:"content"`
	} `json:"messages"`
}

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Input     json.RawMessage `json:"input"`
	CallID    string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    *struct {
		Type, Data string
		Media      string `json:"media_type"`
	} `json:"source"`
	Cache any `json:"cache_control"`
}

// Decode reads a request as strictly as the server.
func (Messages) Decode(body []byte) (Request, error) {
	var a messagesAsked
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Request{}, err
	}
	if n := strings.Count(string(body), `"cache_control"`); n > 4 || n == 0 || a.MaxTokens <= 0 || !a.Stream {
		return Request{}, fmt.Errorf("%d cache markers, %d max_tokens", n, a.MaxTokens)
	}
	r := Request{Model: a.Model}
	for _, t := range a.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for i, m := range a.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			return r, fmt.Errorf("messages.%d: role %s with %d blocks, want %s", i, m.Role, len(m.Content), want)
		}
		items, err := messagesItems(m.Role, m.Content)
		if err != nil {
			return r, fmt.Errorf("messages.%d: %w", i, err)
		}
		r.Items = append(r.Items, items...)
	}
	return r, nil
}

func messagesItems(role string, blocks []messagesBlock) ([]Item, error) {
	rest := Item{Kind: role}
	var results []Item
	word := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	said := false
	for i, b := range blocks {
		if b.Type != "tool_result" {
			said = true
		}
		switch {
		case b.Type == "text" && strings.TrimSpace(b.Text) != "":
			rest.Text += b.Text
		case b.Type == "thinking" && b.Signature != "" && b.Cache == nil, b.Type == "redacted_thinking" && b.Data != "":
			rest.Thinking++
		case (b.Type == "image" || b.Type == "document") && b.Source != nil:
			rest.Images++
		case b.Type == "tool_use" && role == "assistant" && word.MatchString(b.ID) && word.MatchString(b.Name):
			rest.Calls = append(rest.Calls, Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case b.Type == "tool_result" && role == "user" && !said:
			results = append(results, Item{Kind: "result", CallID: b.CallID, Failed: b.IsError})
		default:
			return nil, fmt.Errorf("content.%d: bad block %+v", i, b)
		}
	}
	if said {
		results = append(results, rest)
	}
	return results, nil
}
