package responses

import (
	"bytes"
	"encoding/json"
	"fmt"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// The parts of a request; see the API reference for Responses.
type (
	head struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		// Store false keeps the conversation out of the provider's records; the encrypted reasoning
		// must then be sent back.
		Store        bool       `json:"store"`
		Include      []string   `json:"include,omitempty"`
		Reasoning    *reasoning `json:"reasoning,omitempty"`
		MaxTokens    int        `json:"max_output_tokens,omitempty"`
		Instructions string     `json:"instructions,omitempty"`
		// "none", "required" or one function; omitted, the model chooses.
		Choice any `json:"tool_choice,omitempty"`
		// For structured output.
		Text *text `json:"text,omitempty"`
	}
	text struct {
		Format format `json:"format"`
	}
	format struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
	}
	reasoning struct {
		Effort  string `json:"effort,omitempty"`
		Summary string `json:"summary,omitempty"`
	}
	// The flat form. Strict is always sent: this API's default is true.
	offered struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}
)

// body returns the request in pieces: head, tools, items. Between turns only the end grows.
func (p *Provider) body(r session.Request, q wire.Quirks) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(p.head(r, q)), []byte("}")))
	if len(r.Tools) > 0 {
		b.Text(`,"tools":`)
		b.Add(p.Cache.Tools(r.ToolsDigest, func() []byte { return wire.JSON(offer(r.Tools)) }))
	}
	b.Text(`,"input":[`)
	e := encoder{own: p.Options.Name, hosted: p.hosted, thoughts: !q[noThoughts], plainIDs: q[plainIDs]}
	history := p.Cache.History(r.Messages)
	b.Add(p.Cache.List(fmt.Sprint(e.thoughts, e.plainIDs), history, func(i int) []byte { return e.encode(history[i]) }))
	b.Text("]}")
	return b
}

func (p *Provider) head(r session.Request, q wire.Quirks) head {
	h := head{Model: r.Model, Stream: true, MaxTokens: r.MaxTokens, Instructions: r.System}
	if !q[noEncrypted] {
		h.Include = []string{"reasoning.encrypted_content"}
	}
	if !q[noSummary] {
		h.Reasoning = &reasoning{Effort: p.Effort(r, "none", "xhigh"), Summary: "auto"}
		if q[fewEfforts] {
			h.Reasoning.Effort = p.Effort(r, "low", "high")
		}
	}
	if len(r.Tools) > 0 {
		h.Choice = wire.EncodeChoice(r.Choice, only)
	}
	if len(r.Schema) > 0 && !q[noSchema] {
		h.Text = &text{format{"json_schema", "answer", r.Schema, wire.IsStrict(r.Schema)}}
	}
	return h
}

func only(name string) any {
	return struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}{"function", name}
}

func offer(tools []tool.Definition) []offered {
	out := make([]offered, len(tools))
	for i, d := range tools {
		schema := d.Offered()
		out[i] = offered{"function", d.Name, d.Description, schema, d.Strict != nil && *d.Strict && wire.IsStrict(schema)}
	}
	return out
}
