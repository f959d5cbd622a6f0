package openai

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

type encoder struct {
	own, model, host string
	quirks           wire.Quirks
	marked           bool // with a cache mark in the last part
}

// opaqueThinking is stored in session.Part.Opaque and sent back unchanged with its thinking.
type opaqueThinking struct {
	// OpenRouter's reasoning_details.
	Details []json.RawMessage `json:"details,omitempty"`
	// Chunk: the thinking was part of the content, as Mistral sends it, and is sent back likewise.
	Chunk bool `json:"chunk,omitempty"`
	// Field is the thinking's field; if empty, reasoning_content.
	Field string `json:"field,omitempty"`
}

// encode returns one message's wire messages, joined by commas, or nothing for an empty one.
func (e encoder) encode(m session.Message) []byte {
	var list [][]byte
	switch m.Role {
	case session.User:
		list = append(list, wire.JSON(message{Role: "user", Content: e.content(m.Parts)}))
	case session.Assistant:
		if a, ok := e.assistant(m); ok {
			list = append(list, wire.JSON(a))
		}
	case session.ToolRole:
		list = e.outcomes(m)
	}
	return bytes.Join(list, []byte(","))
}

func (e encoder) assistant(m session.Message) (message, bool) {
	out := message{Role: "assistant"}
	own := m.Provider == e.own
	for _, part := range m.Parts {
		if part.Kind == session.CallPart {
			// api.openai.com takes no extra data with a call, which may come from the Responses
			// format.
			out.Calls = append(out.Calls, e.call(*part.Call, own && e.host != homeAPI))
		}
	}
	if e.quirks[signed] && len(out.Calls) > 0 && len(out.Calls[0].Extra) == 0 {
		out.Calls[0].Extra = json.RawMessage(unsigned) // of parallel calls only the first has one
	}
	thoughts, details, chunks := e.thoughts(m)
	back := &out.Thoughts
	if e.field(m) == plainField {
		back = &out.Reasoning
	}
	if text := m.Text(); text != "" {
		out.Content = text
	}
	if len(chunks) > 0 {
		out.Content = chunks
	}
	// DeepSeek and others refuse a tool loop without the thinking before the call, and ignore or
	// refuse it elsewhere. api.openai.com never sends any.
	switch {
	case e.host == homeAPI || e.quirks[noThoughts] || len(chunks) > 0:
	case e.quirks[allThoughts]:
		if thoughts == "" && len(out.Calls) > 0 {
			thoughts = noThought
		}
		out.Thoughts = &thoughts
	case len(details) > 0 && m.Model == e.model:
		out.Details = wire.JSON(details)
	case len(out.Calls) > 0 && thoughts != "":
		*back = &thoughts
	}
	return out, out.Content != nil || len(out.Calls) > 0
}

// noThought replaces missing thinking before a call: Kimi takes an empty one for missing.
const noThought = "."

// unsigned replaces the signature of another model's call, as Google's page on thought signatures
// documents for its compatible endpoint.
const unsigned = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// The thinking field of OpenRouter, vLLM and Ollama.
const plainField = "reasoning"

func (e encoder) field(m session.Message) string {
	for _, p := range m.Parts {
		var k opaqueThinking
		if p.Kind == session.ReasoningPart && json.Unmarshal(p.Opaque, &k) == nil && k.Field != "" {
			return k.Field
		}
	}
	return ""
}

// thoughts returns the thinking in this provider's own message: as text, as details, or, if it was
// part of the content, as parts including the text between.
func (e encoder) thoughts(m session.Message) (text string, details []json.RawMessage, chunks []part) {
	if m.Provider != e.own {
		return "", nil, nil
	}
	var all strings.Builder
	chunked := false
	for _, p := range m.Parts {
		switch p.Kind {
		case session.TextPart:
			chunks = append(chunks, part{Type: "text", Text: p.Text})
		case session.ReasoningPart:
			var k opaqueThinking
			_ = json.Unmarshal(p.Opaque, &k) // another format's data has none of these fields
			all.WriteString(p.Text)
			details = append(details, k.Details...)
			if k.Chunk {
				chunked = true
				chunks = append(chunks, part{Type: "thinking", Thinking: []part{{Type: "text", Text: p.Text}}})
			}
		}
	}
	if !chunked {
		chunks = nil
	}
	return all.String(), details, chunks
}

func (e encoder) call(c tool.RawCall, own bool) call {
	out := call{
		ID: e.id(c.ID), Type: "function",
		Function: function{wire.Name(c.Name), string(wire.Object(c.Arguments))},
	}
	if own {
		out.Extra = c.Opaque
	}
	return out
}

func (e encoder) id(id tool.CallID) string {
	switch {
	case e.quirks[nineIDs]:
		return wire.NineID(id)
	case e.quirks[plainIDs]:
		return wire.ShortID(id, homeCallID)
	case e.host == homeAPI:
		return wire.BoundID(id, homeCallID)
	case strings.Contains(string(id), signedID):
		return wire.BoundID(id, maxSignedID)
	}
	return wire.BoundID(id, maxCallID)
}

// outcomes returns one tool message each. Attachments follow in a user message.
func (e encoder) outcomes(m session.Message) [][]byte {
	var list [][]byte
	var shown []session.Part
	for i, o := range m.Parts {
		text, later := wire.ResultText(*o.Outcome, e.takes)
		shown = append(shown, later...)
		list = append(list, wire.JSON(message{
			Role: "tool", CallID: e.id(o.Outcome.Call), Content: system(text, e.marked && i == len(m.Parts)-1),
		}))
	}
	if len(shown) > 0 {
		if e.quirks[bridging] {
			list = append(list, []byte(bridge))
		}
		e.marked = false
		list = append(list, wire.JSON(message{Role: "user", Content: e.content(shown)}))
	}
	return list
}

// content returns plain text if possible: simple servers take nothing else.
func (e encoder) content(parts []session.Part) any {
	var list []part
	plain := !e.marked
	for _, item := range parts {
		switch item.Kind {
		case session.TextPart:
			list = append(list, part{Type: "text", Text: item.Text})
		case session.AttachmentPart:
			made := e.attachment(*item.Attachment)
			plain = plain && made.Type == "text"
			list = append(list, made)
		}
	}
	if !plain && len(list) > 0 {
		// Empty text cannot be marked, and some servers refuse it beside other parts.
		list = slices.DeleteFunc(list, func(p part) bool { return p.Type == "text" && p.Text == "" })
	}
	if !plain && len(list) > 0 {
		if e.marked {
			list[len(list)-1].Cache = &cacheControl{"ephemeral"}
		}
		return list
	}
	var texts []string
	for _, t := range list {
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, "\n")
}

// takes reports whether a server reads an attachment: images everywhere, PDF where documented.
func (e encoder) takes(a tool.Attachment) bool {
	kind := wire.KindOf(a)
	return kind == wire.Image || kind == wire.Document && (e.host == homeAPI || e.host == openRouter)
}

func (e encoder) attachment(a tool.Attachment) part {
	if !e.takes(a) {
		return part{Type: "text", Text: wire.Note(a)}
	}
	data := "data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.Data)
	if wire.KindOf(a) == wire.Image {
		return part{Type: "image_url", Image: &image{URL: data}}
	}
	return part{Type: "file", File: &file{Name: a.Name, Data: data}}
}
