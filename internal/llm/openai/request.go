package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// homeCallID is the longest call id that api.openai.com accepts; maxCallID is for others: vLLM's
// own ids have 46 letters.
const (
	homeCallID = 40
	maxCallID  = 64
	// signedID marks an id that contains a Gemini signature, which LiteLLM wants back; maxSignedID
	// is its limit.
	signedID    = "__thought__"
	maxSignedID = 64 << 10
)

// The parts of a request; see the API reference for Chat Completions.
type (
	head struct {
		Model         string         `json:"model"`
		Stream        bool           `json:"stream"`
		StreamOptions *streamOptions `json:"stream_options,omitempty"`
		// For all servers but OpenRouter, which has Reasoning.
		Effort    string     `json:"reasoning_effort,omitempty"`
		Reasoning *reasoning `json:"reasoning,omitempty"`
		// "none", "required" or one function; omitted, the model chooses.
		Choice any `json:"tool_choice,omitempty"`
		// MaxCompletionTokens is for api.openai.com, whose reasoning models refuse the older
		// max_tokens; MaxTokens is for servers that know only that.
		MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
		MaxTokens           int `json:"max_tokens,omitempty"`
		// For structured output.
		Format *format `json:"response_format,omitempty"`
	}
	format struct {
		Type   string `json:"type"`
		Schema schema `json:"json_schema"`
	}
	schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict *bool           `json:"strict,omitempty"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	reasoning struct {
		Effort string `json:"effort"`
	}
	message struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // string, []part or null
		// A pointer, because some servers want it empty rather than missing.
		Thoughts *string `json:"reasoning_content,omitempty"`
		// The same, for servers with this name.
		Reasoning *string         `json:"reasoning,omitempty"`
		Details   json.RawMessage `json:"reasoning_details,omitempty"`
		Calls     []call          `json:"tool_calls,omitempty"`
		CallID    string          `json:"tool_call_id,omitempty"`
	}
	call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
		// Sent back with a call to Gemini's compatible endpoint.
		Extra json.RawMessage `json:"extra_content,omitempty"`
	}
	function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	part struct {
		Type  string `json:"type"`
		Text  string `json:"text,omitempty"`
		Image *image `json:"image_url,omitempty"`
		File  *file  `json:"file,omitempty"`
		// A Mistral model's thought, in text parts.
		Thinking []part `json:"thinking,omitempty"`
		// Marks the end of a cached prompt: Anthropic's models at OpenRouter.
		Cache *cacheControl `json:"cache_control,omitempty"`
	}
	cacheControl struct {
		Type string `json:"type"`
	}
	image struct {
		URL string `json:"url"`
	}
	file struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	}
	offered struct {
		Type     string     `json:"type"`
		Function definition `json:"function"`
	}
	definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict,omitempty"`
	}
)

// body returns the request in pieces: head, tools, messages. Between turns only the end grows and
// the cache marks move.
func (p *Provider) body(r session.Request, q wire.Quirks) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(p.head(r, q)), []byte("}")))
	if len(r.Tools) > 0 {
		b.Text(`,"tools":`)
		b.Add(p.Cache.Tools(r.ToolsDigest, func() []byte { return wire.JSON(p.offer(r.Tools)) }))
	}
	b.Text(`,"messages":[`)
	marked := p.marks(r.Model)
	var first []byte
	if r.System != "" {
		first = wire.JSON(message{Role: "system", Content: system(r.System, marked)})
	}
	history := p.Cache.History(r.Messages)
	b.Elements(first, p.messages(history, encoder{own: p.Options.Name, model: r.Model, host: p.host, quirks: q}, marked))
	b.Text("]}")
	return b
}

// messages returns the encoded messages. Cache marks move, so marked ones are encoded each time.
func (p *Provider) messages(history []session.Message, e encoder, marked bool) []byte {
	variant := fmt.Sprint(e.model, e.quirks)
	encode := func(i int) []byte { return e.encode(history[i]) }
	if !marked && !e.quirks[bridging] {
		return p.Cache.List(variant, history, encode)
	}
	pieces := slices.Clone(p.Cache.Messages(variant, history, encode))
	e.marked = marked
	for i := lastTurns(history); marked && i < len(history); i++ {
		if history[i].Role != session.Assistant {
			pieces[i] = e.encode(history[i])
		}
	}
	if e.quirks[bridging] {
		pieces = bridged(history, pieces)
	}
	return wire.Join(nil, pieces)
}

// An assistant message between results and the user, for servers that require one.
const bridge = `{"role":"assistant","content":"(continued)"}`

// bridged inserts it where needed.
func bridged(history []session.Message, pieces [][]byte) (out [][]byte) {
	for i, piece := range pieces {
		if len(piece) > 0 && i > 0 && history[i].Role == session.User && history[i-1].Role == session.ToolRole {
			out = append(out, []byte(bridge))
		}
		out = append(out, piece)
	}
	return out
}

// marks reports whether a model's prompt is cached only on request.
func (p *Provider) marks(model string) bool {
	return p.host == openRouter && strings.HasPrefix(strings.TrimPrefix(model, "~"), "anthropic/")
}

// How many of the last user turns get a cache mark. With the system prompt, which covers the tools
// before it, one mark in four stays free.
const markedTurns = 2

// lastTurns returns the index of the first marked user turn.
func lastTurns(history []session.Message) int {
	left := markedTurns
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role != session.Assistant {
			if left--; left == 0 {
				return i
			}
		}
	}
	return 0
}

func system(text string, marked bool) any {
	if !marked {
		return text
	}
	return []part{{Type: "text", Text: text, Cache: &cacheControl{"ephemeral"}}}
}

func (p *Provider) head(r session.Request, q wire.Quirks) head {
	h := head{Model: r.Model, Stream: true}
	if !q[noUsage] {
		h.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	most, least := "xhigh", "none"
	if q[fewEfforts] {
		most, least = "high", "low"
	}
	switch effort := p.Effort(r, least, most); {
	case effort == "" || q[noEffort]:
	case p.host == openRouter:
		h.Reasoning = &reasoning{effort}
	default:
		h.Effort = effort
	}
	if len(r.Tools) > 0 {
		h.Choice = wire.EncodeChoice(r.Choice, only)
	}
	if len(r.Schema) > 0 && !q[noSchema] {
		h.Format = &format{"json_schema", p.schema(r.Schema)}
	}
	if (p.host == homeAPI) != q[otherLimit] {
		h.MaxCompletionTokens = r.MaxTokens
	} else {
		h.MaxTokens = r.MaxTokens
	}
	return h
}

// schema returns the response format. api.openai.com enforces a schema only in its strict form,
// which not every schema has.
func (p *Provider) schema(given json.RawMessage) schema {
	s := schema{Name: "answer", Schema: given}
	if p.host == homeAPI {
		strict := wire.IsStrict(given)
		s.Strict = &strict
	}
	return s
}

func only(name string) any {
	type named struct {
		Name string `json:"name"`
	}
	return struct {
		Type     string `json:"type"`
		Function named  `json:"function"`
	}{"function", named{name}}
}

// offer returns the tool list. At api.openai.com a strict tool is sent as such only if its schema
// has the form that the server demands.
func (p *Provider) offer(tools []tool.Definition) []offered {
	out := make([]offered, len(tools))
	for i, d := range tools {
		schema, strict := d.Offered(), d.Strict
		if p.host == homeAPI && strict != nil && *strict {
			strict = new(wire.IsStrict(schema))
		}
		out[i] = offered{"function", definition{d.Name, d.Description, schema, strict}}
	}
	return out
}
