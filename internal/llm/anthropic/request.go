package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	// The API documents the letters of an id, not its length; this is generous.
	maxCallID = 64
	// marker asks the API to cache the prompt up to and including a block. At most four are
	// allowed: tools, system, and the user's last two turns.
	marker      = `,"cache_control":{"type":"ephemeral"}}`
	markedTurns = 2
)

// The parts of a request; see the API reference for Messages.
type (
	head struct {
		Version   string    `json:"anthropic_version,omitempty"` // at a cloud
		Betas     []string  `json:"anthropic_beta,omitempty"`    // the same
		Model     string    `json:"model,omitempty"`
		MaxTokens int       `json:"max_tokens"`
		Stream    bool      `json:"stream,omitempty"`
		Thinking  *thinking `json:"thinking,omitempty"`
		Output    *output   `json:"output_config,omitempty"`
		Choice    *choice   `json:"tool_choice,omitempty"`
	}
	choice struct {
		Type string `json:"type"`
		Name string `json:"name,omitempty"`
	}
	offered struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
)

// turn is an API message: adjacent messages with one role, as joined blocks.
type turn struct {
	role   string
	pieces [][]byte
}

// body returns the request in pieces. Between turns only the end grows and the markers move.
func (p *Provider) body(r session.Request, q wire.Quirks) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(p.head(r, q)), []byte("}")))
	if len(r.Tools) > 0 {
		b.Text(`,"tools":[`)
		mark(b, p.Cache.Tools(r.ToolsDigest, func() []byte { return offer(r.Tools) }))
		b.Text("]")
	}
	if r.System != "" {
		b.Text(`,"system":[`)
		mark(b, wire.JSON(textBlock{"text", r.System}))
		b.Text("]")
	}
	b.Text(`,"messages":[`)
	turns := p.turns(r.Messages, q)
	unmarked := users(turns) - markedTurns
	for i, t := range turns {
		if i > 0 {
			b.Text(",")
		}
		if t.role == "user" {
			unmarked--
		}
		t.write(b, t.role == "user" && unmarked < 0)
	}
	b.Text("]}")
	return b
}

func (p *Provider) head(r session.Request, q wire.Quirks) head {
	h := head{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true}
	if h.MaxTokens == 0 {
		h.MaxTokens = limitOf(r.Model)
	}
	think(&h, p.Effort(r, "none", "max"), q)
	if len(r.Tools) > 0 {
		h.Choice = chosen(r.Choice, h.Thinking != nil)
	}
	if door := p.Options.Door; door != nil && door.Version != "" {
		h.Version, h.Betas, h.Model, h.Stream = door.Version, p.betas, "", !door.Unstreamed
	}
	return h
}

// chosen returns the tool choice; a model that thinks cannot be forced to call one.
func chosen(c session.Choice, thinks bool) *choice {
	switch {
	case c == session.ChooseNone:
		return &choice{Type: "none"}
	case c == session.ChooseFreely || thinks:
		return nil
	case c == session.ChooseSome:
		return &choice{Type: "any"}
	}
	return &choice{Type: "tool", Name: string(c)}
}

// limitOf returns an output limit that a whole model family accepts (API models overview).
func limitOf(model string) int {
	switch {
	case strings.Contains(model, "claude-3-5"):
		return 8192
	case strings.Contains(model, "claude-3-") && !strings.Contains(model, "claude-3-7"):
		return 4096
	}
	return 32000
}

func offer(tools []tool.Definition) []byte {
	list := make([][]byte, len(tools))
	for i, d := range tools {
		list[i] = wire.JSON(offered{d.Name, d.Description, d.Offered()})
	}
	return bytes.Join(list, []byte(","))
}

// mark adds encoded blocks with a cache marker in the last one.
func mark(b *wire.Body, blocks []byte) {
	b.Add(bytes.TrimSuffix(blocks, []byte("}")))
	b.Text(marker)
}

func (t turn) write(b *wire.Body, marked bool) {
	b.Text(`{"role":"` + t.role + `","content":[`)
	for i, piece := range t.pieces {
		if i > 0 {
			b.Text(",")
		}
		if marked && i == len(t.pieces)-1 {
			mark(b, piece)
			continue
		}
		b.Add(piece)
	}
	b.Text("]}")
}

// turns merges adjacent messages of one role: the API wants the roles to alternate, beginning with
// the user, and results directly after their calls.
func (p *Provider) turns(messages []session.Message, q wire.Quirks) []turn {
	var out []turn
	history := p.Cache.History(messages)
	for i, piece := range p.Cache.Messages(fmt.Sprint(q[allThoughts]), history, func(i int) []byte { return p.encode(history[i], q[allThoughts]) }) {
		role := "user"
		if history[i].Role == session.Assistant {
			role = "assistant"
		}
		if len(piece) == 0 {
			continue
		}
		if len(out) == 0 && role == "assistant" {
			out = append(out, turn{"user", [][]byte{wire.JSON(textBlock{"text", "(continued)"})}})
		}
		if len(out) == 0 || out[len(out)-1].role != role {
			out = append(out, turn{role: role})
		}
		last := &out[len(out)-1]
		last.pieces = append(last.pieces, piece)
	}
	return out
}

func users(turns []turn) (n int) {
	for _, t := range turns {
		if t.role == "user" {
			n++
		}
	}
	return n
}
