package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// For ids of other providers; Ollama itself takes any length.
const maxCallID = 64

// The parts of a request; see Ollama's API reference.
type (
	head struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	tail struct {
		// If Truncate is false, a server since v0.12.6 refuses a long prompt rather than cutting
		// it. If Shift is false, it ends an answer at the context's end rather than forgetting the
		// beginning. Older servers ignore both.
		Truncate  bool    `json:"truncate"`
		Shift     bool    `json:"shift"`
		Options   options `json:"options"`
		KeepAlive string  `json:"keep_alive"`
		Think     any     `json:"think,omitempty"`
		// Format is a JSON Schema for the answer; it excludes calls.
		Format json.RawMessage `json:"format,omitempty"`
	}
	options struct {
		Context int `json:"num_ctx"`
		Predict int `json:"num_predict,omitempty"`
	}
	message struct {
		Role     string   `json:"role"`
		Content  string   `json:"content"`
		Thinking string   `json:"thinking,omitempty"`
		Images   [][]byte `json:"images,omitempty"` // base64 in JSON
		Calls    []call   `json:"tool_calls,omitempty"`
		Tool     string   `json:"tool_name,omitempty"`
		CallID   string   `json:"tool_call_id,omitempty"`
	}
	call struct {
		ID       string   `json:"id"`
		Function function `json:"function"`
	}
	function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	offered struct {
		Type     string     `json:"type"`
		Function definition `json:"function"`
	}
	definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// body returns the request before its tail, in pieces. Between turns only the end grows.
func (p *Provider) body(r session.Request, d details) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(head{r.Model, true}), []byte("}")))
	// The API has no tool choice: without permission to call, no tool is offered, and nothing
	// forces a call.
	if len(r.Tools) > 0 && r.Choice != session.ChooseNone {
		b.Text(`,"tools":`)
		b.Add(p.Cache.Tools(r.ToolsDigest, func() []byte { return wire.JSON(offer(r.Tools)) }))
	}
	b.Text(`,"messages":[`)
	var system []byte
	if r.System != "" {
		system = wire.JSON(message{Role: "system", Content: r.System})
	}
	e := encoder{own: p.Options.Name, images: d.vision}
	history := p.Cache.History(r.Messages)
	b.Elements(system, p.Cache.List(fmt.Sprint(e.images), history, func(i int) []byte { return e.encode(history[i]) }))
	b.Text("]")
	return b
}

// tail follows the messages, so that a larger num_ctx leaves the bytes before it unchanged.
func (p *Provider) tail(r session.Request, d details, context int) []byte {
	t := tail{Options: options{Context: context, Predict: r.MaxTokens}, KeepAlive: p.Options.KeepAlive}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.loose[r.Model] {
		t.Format = r.Schema
	}
	// A model that cannot think refuses the field.
	if d.thinking {
		t.Think = p.think(r)
	}
	return append([]byte(","), wire.JSON(t)[1:]...)
}

// think reports whether the model thinks; gpt-oss alone takes an effort and cannot turn thinking
// off.
func (p *Provider) think(r session.Request) any {
	if effort := p.Effort(r, "low", "high"); effort != "" && strings.Contains(strings.ToLower(r.Model), "gpt-oss") {
		return effort
	}
	return p.Effort(r, "none", "max") != "none"
}

func offer(tools []tool.Definition) []offered {
	out := make([]offered, len(tools))
	for i, d := range tools {
		out[i] = offered{"function", definition{d.Name, d.Description, d.Offered()}}
	}
	return out
}

type encoder struct {
	own    string
	images bool
}

// encode returns one message's wire messages, joined by commas, or nothing for an empty one.
func (e encoder) encode(m session.Message) []byte {
	var list [][]byte
	switch m.Role {
	case session.User:
		list = append(list, wire.JSON(e.user(m.Parts)))
	case session.Assistant:
		if a := e.assistant(m); a.Content != "" || len(a.Calls) > 0 {
			list = append(list, wire.JSON(a))
		}
	case session.ToolRole:
		list = e.outcomes(m)
	}
	return bytes.Join(list, []byte(","))
}

func (e encoder) user(parts []session.Part) message {
	out := message{Role: "user"}
	var texts []string
	for _, part := range parts {
		switch {
		case part.Kind == session.TextPart:
			texts = append(texts, part.Text)
		case part.Kind != session.AttachmentPart || part.Attachment == nil:
		case e.takes(*part.Attachment):
			out.Images = append(out.Images, part.Attachment.Data)
		default:
			texts = append(texts, wire.Note(*part.Attachment))
		}
	}
	out.Content = strings.Join(texts, "\n")
	return out
}

func (e encoder) takes(a tool.Attachment) bool { return e.images && wire.KindOf(a) == wire.Image }

// assistant sends thinking back with its calls, where models expect it.
func (e encoder) assistant(m session.Message) message {
	out := message{Role: "assistant", Content: m.Text()}
	var thought strings.Builder
	for _, part := range m.Parts {
		switch {
		case part.Kind == session.CallPart && part.Call != nil:
			out.Calls = append(out.Calls, call{
				ID:       wire.BoundID(part.Call.ID, maxCallID),
				Function: function{wire.Name(part.Call.Name), wire.Object(part.Call.Arguments)},
			})
		case part.Kind == session.ReasoningPart:
			thought.WriteString(part.Text)
		}
	}
	if len(out.Calls) > 0 && m.Provider == e.own {
		out.Thinking = thought.String()
	}
	return out
}

// outcomes returns one tool message each. Images follow in a user message.
func (e encoder) outcomes(m session.Message) [][]byte {
	var list [][]byte
	var shown []session.Part
	for _, o := range m.Parts {
		text, later := wire.ResultText(*o.Outcome, e.takes)
		shown = append(shown, later...)
		list = append(list, wire.JSON(message{
			Role: "tool", Content: text, Tool: wire.Name(o.Outcome.Tool),
			CallID: wire.BoundID(o.Outcome.Call, maxCallID),
		}))
	}
	if len(shown) > 0 {
		list = append(list, wire.JSON(e.user(shown)))
	}
	return list
}
