package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// The parts of a request; see the API reference for generateContent.
type (
	head struct {
		Config config   `json:"generationConfig"`
		System *content `json:"systemInstruction,omitempty"`
		Tools  *choice  `json:"toolConfig,omitempty"`
	}
	choice struct {
		Calling calling `json:"functionCallingConfig"`
	}
	calling struct {
		Mode string   `json:"mode"`
		Only []string `json:"allowedFunctionNames,omitempty"`
	}
	config struct {
		MaxTokens int       `json:"maxOutputTokens,omitempty"`
		Thinking  *thinking `json:"thinkingConfig,omitempty"`
		// For structured output; the API allows it only without tools.
		MediaType string          `json:"responseMimeType,omitempty"`
		Schema    json.RawMessage `json:"responseJsonSchema,omitempty"`
	}
	// A level since Gemini 3, a token budget before; never both.
	thinking struct {
		Include bool   `json:"includeThoughts"`
		Level   string `json:"thinkingLevel,omitempty"`
		Budget  *int   `json:"thinkingBudget,omitempty"`
	}
	content struct {
		Parts []part `json:"parts"`
	}
	offered struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
		// For servers that know only the older form.
		Parameters json.RawMessage `json:"parameters,omitempty"`
	}
)

// turn is an API content: adjacent messages with one role, as joined parts.
type turn struct {
	role   string
	closed bool // not to be joined: a turn of results holds exactly one part per call
	pieces [][]byte
}

// body returns the request in pieces. Between turns only the end grows.
func (p *Provider) body(r session.Request, q wire.Quirks) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(p.head(r, q)), []byte("}")))
	if len(r.Tools) > 0 {
		variant := ""
		if q[oldSchema] && r.ToolsDigest != "" {
			variant = "/old"
		}
		b.Text(`,"tools":[{"functionDeclarations":[`)
		b.Add(p.Cache.Tools(r.ToolsDigest+variant, func() []byte { return offer(r.Tools, q[oldSchema]) }))
		b.Text("]}]")
	}
	b.Text(`,"contents":[`)
	for i, t := range p.turns(r, q) {
		if i > 0 {
			b.Text(",")
		}
		b.Text(`{"role":"` + t.role + `","parts":[`)
		for j, piece := range t.pieces {
			if j > 0 {
				b.Text(",")
			}
			b.Add(piece)
		}
		b.Text("]}")
	}
	b.Text("]}")
	return b
}

func (p *Provider) head(r session.Request, q wire.Quirks) head {
	h := head{Config: config{MaxTokens: r.MaxTokens}}
	if !q[noThinking] {
		h.Config.Thinking = think(r.Model, p.Effort(r, "none", "max"))
	}
	if len(r.Tools) > 0 {
		h.Tools = chosen(r.Choice)
	} else if len(r.Schema) > 0 && !q[noSchema] {
		h.Config.MediaType, h.Config.Schema = "application/json", r.Schema
	}
	if r.System != "" {
		h.System = &content{[]part{{Text: &r.System}}}
	}
	return h
}

func budget(tokens int) *int { return &tokens }

// think requests thoughts, and an effort if the user set one.
func think(model, effort string) *thinking {
	t := &thinking{Include: true}
	switch {
	case effort == "":
	case generation(model) >= 3 || generation(model) == 0:
		t.Level = wire.ClampEffort(effort, "minimal", "high")
	case effort == "none":
		t.Include, t.Budget = false, budget(0)
	case effort == "minimal":
		t.Budget = budget(512)
	case effort == "low":
		t.Budget = budget(2048)
	case effort == "medium":
		t.Budget = budget(8192)
	default:
		t.Budget = budget(24_576) // the largest value that every model accepts
	}
	return t
}

func chosen(c session.Choice) *choice {
	switch c {
	case session.ChooseFreely:
		return nil
	case session.ChooseNone:
		return &choice{calling{Mode: "NONE"}}
	case session.ChooseSome:
		return &choice{calling{Mode: "ANY"}}
	}
	return &choice{calling{Mode: "ANY", Only: []string{string(c)}}}
}

// offer encodes the function declarations. One without parameters gets none: the API refuses an
// object without properties.
func offer(tools []tool.Definition, old bool) []byte {
	list := make([][]byte, len(tools))
	for i, d := range tools {
		o := offered{Name: d.Name, Description: d.Description, Schema: withOrder(d.Offered())}
		if old && o.Schema != nil {
			o.Schema, o.Parameters = nil, wire.SimpleSchema(o.Schema)
		}
		list[i] = wire.JSON(o)
	}
	return bytes.Join(list, []byte(","))
}

// turns merges adjacent messages of one role: the API wants the user's first, and results directly
// after their calls.
func (p *Provider) turns(r session.Request, q wire.Quirks) []turn {
	e := encoder{own: p.Options.Name, nested: generation(r.Model) >= 3, seals: !q[noSignatures], signed: q[signs]}
	var out []turn
	messages := p.Cache.History(r.Messages)
	pieces := p.Cache.Messages(fmt.Sprint(e.nested, e.seals, e.signed), messages, func(i int) []byte {
		if messages[i].Role == session.ToolRole {
			return e.outcomes(messages[i-1], messages[i])
		}
		return e.encode(messages[i])
	})
	for i, piece := range pieces {
		message := &messages[i]
		t := turn{role: "user", closed: message.Role == session.ToolRole}
		if message.Role == session.Assistant {
			t.role = "model"
		}
		if len(piece) > 0 {
			t.pieces = [][]byte{piece}
			out = join(out, t)
		}
		if t.closed && !e.nested {
			out = join(out, turn{role: "user", pieces: e.shown(*message)})
		}
	}
	return out
}

// join appends a turn, merging it into the last one if allowed.
func join(out []turn, t turn) []turn {
	switch n := len(out); {
	case len(t.pieces) == 0:
		return out
	case n == 0 && t.role == "model":
		continued := "(continued)"
		return append(out, turn{role: "user", pieces: [][]byte{wire.JSON(part{Text: &continued})}}, t)
	case n == 0 || t.closed || out[n-1].closed || out[n-1].role != t.role:
		return append(out, t)
	}
	last := &out[len(out)-1]
	last.pieces = append(last.pieces, t.pieces...)
	return out
}

// generation returns the number in a model's name: 3 for gemini-3-pro-preview, 0 if none.
func generation(model string) int {
	_, rest, ok := strings.Cut(model, "gemini-")
	if !ok {
		return 0
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
