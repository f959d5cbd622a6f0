package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	// maxCallID is generous: the API documents the letters of an id, not its length.
	maxCallID = 64
	// marker asks the API to keep everything up to and including a block in its prompt cache. At most
	// four are allowed: tools, system, and the last two turns of the user.
	marker      = `,"cache_control":{"type":"ephemeral"}}`
	markedTurns = 2
)

// What a request is made of; see the API reference for Messages.
type (
	head struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		Stream    bool      `json:"stream"`
		Thinking  *thinking `json:"thinking,omitempty"`
	}
	thinking struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	}
	offered struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingBlock struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	redactedBlock struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	useBlock struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	resultBlock struct {
		Type    string `json:"type"`
		CallID  string `json:"tool_use_id"`
		Content any    `json:"content,omitempty"` // string or []any
		IsError bool   `json:"is_error,omitempty"`
	}
	dataBlock struct {
		Type   string `json:"type"` // image or document
		Source source `json:"source"`
		Title  string `json:"title,omitempty"`
	}
	source struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
	}
)

// sealed is what the API wants back unchanged with a thinking block, kept as session.Part.Opaque.
type sealed struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// placed is kept with a call that stood before a thinking block: how many of them came before it.
type placed struct {
	After int `json:"after"`
}

// turn is a message of the API: adjacent messages of one side, as joined blocks.
type turn struct {
	role   string
	pieces [][]byte
}

// body is the request in pieces. From turn to turn only the end grows and the markers move.
func (p *Provider) body(r session.Request) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(p.head(r)), []byte("}")))
	if len(r.Tools) > 0 {
		b.Text(`,"tools":[`)
		mark(b, p.cache.Tools(r.ToolsDigest, func() []byte { return offer(r.Tools) }))
		b.Text("]")
	}
	if r.System != "" {
		b.Text(`,"system":[`)
		mark(b, wire.JSON(textBlock{"text", r.System}))
		b.Text("]")
	}
	b.Text(`,"messages":[`)
	turns := p.turns(r.Messages)
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

func (p *Provider) head(r session.Request) head {
	h := head{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true}
	if h.MaxTokens == 0 {
		h.MaxTokens = p.options.MaxTokens
	}
	if h.MaxTokens == 0 {
		h.MaxTokens = limitOf(r.Model)
	}
	if n := p.options.Thinking; n > 0 {
		h.Thinking = &thinking{"enabled", n}
		h.MaxTokens = max(h.MaxTokens, n+1024) // the budget is part of the answer's limit
	}
	return h
}

// limitOf is an answer's limit that every model of a family accepts (models overview of the API).
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

// turns merges adjacent messages of one side: the API wants the sides to alternate, beginning with the
// user's, and outcomes directly after their calls.
func (p *Provider) turns(messages []session.Message) []turn {
	var out []turn
	for _, m := range wire.History(messages) {
		role := "user"
		if m.Role == session.Assistant {
			role = "assistant"
		}
		piece := p.cache.Message("", m, p.encode)
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

// encode makes the blocks of one message, joined by commas; nothing for an empty one.
func (p *Provider) encode(m session.Message) []byte {
	var list [][]byte
	if m.Role == session.Assistant {
		list = p.assistant(m)
	} else {
		for _, part := range m.Parts {
			if block := encodePart(part); block != nil {
				list = append(list, wire.JSON(block))
			}
		}
	}
	if len(list) == 0 && m.Role == session.User {
		list = append(list, wire.JSON(textBlock{"text", "(empty)"}))
	}
	return bytes.Join(list, []byte(","))
}

func encodePart(p session.Part) any {
	switch {
	case p.Kind == session.TextPart && strings.TrimSpace(p.Text) != "":
		return textBlock{"text", p.Text}
	case p.Kind == session.AttachmentPart && p.Attachment != nil:
		return encodeAttachment(*p.Attachment)
	case p.Kind == session.OutcomePart && p.Outcome != nil:
		return encodeOutcome(*p.Outcome)
	}
	return nil
}

// assistant restores the order in which thinking and calls came, because the API checks it.
func (p *Provider) assistant(m session.Message) [][]byte {
	own := m.Provider == p.options.Name
	calls := m.Calls()
	var list [][]byte
	thoughts := 0
	for _, part := range m.Parts {
		switch {
		case part.Kind == session.ReasoningPart && own:
			block := encodeThinking(part)
			if block == nil {
				continue
			}
			for len(calls) > 0 && placeOf(calls[0]) == thoughts {
				list = append(list, wire.JSON(encodeCall(calls[0])))
				calls = calls[1:]
			}
			thoughts++
			list = append(list, wire.JSON(block))
		case part.Kind == session.TextPart && strings.TrimSpace(part.Text) != "":
			list = append(list, wire.JSON(textBlock{"text", part.Text}))
		}
	}
	for _, c := range calls {
		list = append(list, wire.JSON(encodeCall(c)))
	}
	return list
}

// placeOf is the number of thinking blocks before a call, or -1 when it came after all of them.
func placeOf(c tool.RawCall) int {
	var at placed
	if len(c.Opaque) == 0 || json.Unmarshal(c.Opaque, &at) != nil || at.After == 0 {
		return -1
	}
	return at.After
}

// encodeThinking is nothing for thinking without a seal: the API refuses it, and it was cut off.
func encodeThinking(p session.Part) any {
	var s sealed
	if json.Unmarshal(p.Opaque, &s) != nil {
		return nil
	}
	switch {
	case s.Redacted != "":
		return redactedBlock{"redacted_thinking", s.Redacted}
	case s.Signature != "":
		return thinkingBlock{"thinking", p.Text, s.Signature}
	}
	return nil
}

func encodeCall(c tool.RawCall) useBlock {
	return useBlock{"tool_use", wire.ShortID(c.ID, maxCallID), wire.Name(c.Name), wire.Object(c.Arguments)}
}

func encodeOutcome(o tool.Outcome) resultBlock {
	r := resultBlock{Type: "tool_result", CallID: wire.ShortID(o.Call, maxCallID), IsError: o.Status != tool.Completed}
	if len(o.Attachments) == 0 {
		if o.Output != "" {
			r.Content = o.Output
		}
		return r
	}
	var list []any
	if strings.TrimSpace(o.Output) != "" {
		list = append(list, textBlock{"text", o.Output})
	}
	for _, a := range o.Attachments {
		list = append(list, encodeAttachment(a))
	}
	r.Content = list
	return r
}

func encodeAttachment(a tool.Attachment) any {
	kind := wire.KindOf(a)
	if kind != wire.Image && kind != wire.Document {
		return textBlock{"text", wire.Note(a)}
	}
	block := dataBlock{Type: kind, Source: source{"base64", a.MediaType, base64.StdEncoding.EncodeToString(a.Data)}}
	if kind == wire.Document {
		block.Title = a.Name
	}
	return block
}
