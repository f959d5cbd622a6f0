package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// Content blocks; see the API reference for Messages.
type (
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

// opaqueThinking is stored in session.Part.Opaque and sent back unchanged with its thinking block.
type opaqueThinking struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// callPlace is stored with a call that stood before a thinking block: the number of thinking blocks
// before it.
type callPlace struct {
	After int `json:"after"`
}

// encode returns the blocks of one message, joined by commas, or nothing for an empty one. If all
// is set, thinking without a signature is sent back too.
func (p *Provider) encode(m session.Message, all bool) []byte {
	var list [][]byte
	if m.Role == session.Assistant {
		list = p.assistant(m, all)
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

// assistant restores the order of thinking and calls, which the API checks.
func (p *Provider) assistant(m session.Message, all bool) [][]byte {
	own := m.Provider == p.Options.Name
	calls := m.Calls()
	var list [][]byte
	thoughts := 0
	for _, part := range m.Parts {
		switch {
		case part.Kind == session.ReasoningPart && own:
			block := encodeThinking(part)
			switch {
			case block == nil && all && part.Text != "":
				list = append(list, wire.JSON(thinkingBlock{"thinking", part.Text, ""}))
				continue
			case block == nil:
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
	if all && len(calls) > 0 && !slices.ContainsFunc(list, isThinking) { // Kimi takes an empty one for missing
		list = slices.Insert(list, 0, wire.JSON(thinkingBlock{"thinking", ".", ""}))
	}
	for _, c := range calls {
		list = append(list, wire.JSON(encodeCall(c)))
	}
	return list
}

func isThinking(block []byte) bool { return bytes.HasPrefix(block, []byte(`{"type":"thinking"`)) }

// placeOf returns how many thinking blocks precede a call, or -1 if all do.
func placeOf(c tool.RawCall) int {
	var at callPlace
	if len(c.Opaque) == 0 || json.Unmarshal(c.Opaque, &at) != nil || at.After == 0 {
		return -1
	}
	return at.After
}

// encodeThinking returns nil for thinking without a signature: it was cut off, and the API refuses
// it.
func encodeThinking(p session.Part) any {
	var s opaqueThinking
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
