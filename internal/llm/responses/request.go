package responses

import (
	"bytes"
	"encoding/json"
	"fmt"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// What a request is made of; see the API reference for Responses.
type (
	head struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		// Store false keeps the conversation out of the provider's records; then the reasoning must come
		// back with it, encrypted.
		Store        bool       `json:"store"`
		Include      []string   `json:"include,omitempty"`
		Reasoning    *reasoning `json:"reasoning,omitempty"`
		MaxTokens    int        `json:"max_output_tokens,omitempty"`
		Instructions string     `json:"instructions,omitempty"`
	}
	reasoning struct {
		Effort  string `json:"effort,omitempty"`
		Summary string `json:"summary,omitempty"`
	}
	// offered has the flat form. Strict is always sent: this API takes a missing one for true.
	offered struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}
)

// body is the request in pieces: head, tools, items. Only the end grows from turn to turn.
func (p *Provider) body(r session.Request, m manners) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(p.head(r, m)), []byte("}")))
	if len(r.Tools) > 0 {
		b.Text(`,"tools":`)
		b.Add(p.cache.Tools(r.ToolsDigest, func() []byte { return wire.JSON(offer(r.Tools)) }))
	}
	b.Text(`,"input":[`)
	e := encoder{own: p.options.Name, hosted: p.hosted, thoughts: !m.noThoughts}
	comma := ""
	for _, message := range wire.History(r.Messages) {
		raw := p.cache.Message(fmt.Sprint(e.thoughts), message, e.encode)
		if len(raw) == 0 {
			continue
		}
		b.Text(comma)
		b.Add(raw)
		comma = ","
	}
	b.Text("]}")
	return b
}

func (p *Provider) head(r session.Request, m manners) head {
	h := head{Model: r.Model, Stream: true, MaxTokens: r.MaxTokens, Instructions: r.System}
	if h.MaxTokens == 0 {
		h.MaxTokens = p.options.MaxTokens
	}
	if !m.noEncrypted {
		h.Include = []string{"reasoning.encrypted_content"}
	}
	if !m.noSummary {
		h.Reasoning = &reasoning{Effort: p.options.Effort, Summary: "auto"}
	}
	return h
}

func offer(tools []tool.Definition) []offered {
	out := make([]offered, len(tools))
	for i, d := range tools {
		schema := d.Offered()
		out[i] = offered{"function", d.Name, d.Description, schema, d.Strict != nil && *d.Strict && fitsStrict(schema)}
	}
	return out
}

// fitsStrict reports whether a schema is in the form that the API demands of a strict function: in every
// object all properties are required and no others are allowed. One that is not is offered loosely; the
// request would be refused.
func fitsStrict(schema json.RawMessage) bool {
	var value any
	return json.Unmarshal(schema, &value) == nil && strictNode(value)
}

func strictNode(node any) bool {
	switch node := node.(type) {
	case []any:
		for _, n := range node {
			if !strictNode(n) {
				return false
			}
		}
	case map[string]any:
		if node["type"] == "object" && !strictObject(node) {
			return false
		}
		for _, n := range node {
			if !strictNode(n) {
				return false
			}
		}
	}
	return true
}

func strictObject(node map[string]any) bool {
	properties, _ := node["properties"].(map[string]any)
	required, _ := node["required"].([]any)
	named := map[any]bool{}
	for _, name := range required {
		named[name] = true
	}
	for name := range properties {
		if !named[name] {
			return false
		}
	}
	return node["additionalProperties"] == false
}
