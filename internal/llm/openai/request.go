package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// maxCallID is the longest id of a call that api.openai.com takes back.
const maxCallID = 40

// What a request is made of; see the API reference for Chat Completions.
type (
	head struct {
		Model         string         `json:"model"`
		Stream        bool           `json:"stream"`
		StreamOptions *streamOptions `json:"stream_options,omitempty"`
		// MaxCompletionTokens is for api.openai.com, whose reasoning models refuse the older
		// max_tokens; MaxTokens is for the servers that know only that.
		MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
		MaxTokens           int `json:"max_tokens,omitempty"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	message struct {
		Role             string `json:"role"`
		Content          any    `json:"content"` // string, []part or null
		ReasoningContent string `json:"reasoning_content,omitempty"`
		Calls            []call `json:"tool_calls,omitempty"`
		CallID           string `json:"tool_call_id,omitempty"`
	}
	call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
		// Extra is what Gemini's compatible endpoint wants back with a call.
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

// body is the request in pieces: head, tools, messages. Only the end grows from turn to turn.
func (p *Provider) body(r session.Request, usage bool) *wire.Body {
	b := &wire.Body{}
	b.Add(bytes.TrimSuffix(wire.JSON(p.head(r, usage)), []byte("}")))
	if len(r.Tools) > 0 {
		b.Text(`,"tools":`)
		b.Add(p.cache.Tools(r.ToolsDigest, func() []byte { return wire.JSON(offer(r.Tools)) }))
	}
	b.Text(`,"messages":[`)
	comma := ""
	if r.System != "" {
		b.Add(wire.JSON(message{Role: "system", Content: r.System}))
		comma = ","
	}
	for _, m := range wire.History(r.Messages) {
		raw := p.cache.Message("", m, p.encode)
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

func (p *Provider) head(r session.Request, usage bool) head {
	h := head{Model: r.Model, Stream: true}
	if usage {
		h.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	limit := r.MaxTokens
	if limit == 0 {
		limit = p.options.MaxTokens
	}
	if p.hosted {
		h.MaxCompletionTokens = limit
	} else {
		h.MaxTokens = limit
	}
	return h
}

func offer(tools []tool.Definition) []offered {
	out := make([]offered, len(tools))
	for i, d := range tools {
		out[i] = offered{"function", definition{d.Name, d.Description, d.Offered(), d.Strict}}
	}
	return out
}

// encode makes the wire messages of one message, joined by commas; nothing for an empty one.
func (p *Provider) encode(m session.Message) []byte {
	var list [][]byte
	switch m.Role {
	case session.User:
		list = append(list, wire.JSON(message{Role: "user", Content: p.content(m.Parts)}))
	case session.Assistant:
		if a, ok := p.assistant(m); ok {
			list = append(list, wire.JSON(a))
		}
	case session.ToolRole:
		list = p.outcomes(m)
	}
	return bytes.Join(list, []byte(","))
}

func (p *Provider) assistant(m session.Message) (message, bool) {
	out := message{Role: "assistant"}
	own := m.Provider == p.options.Name
	var thought strings.Builder
	for _, part := range m.Parts {
		switch part.Kind {
		case session.CallPart:
			// api.openai.com wants nothing back with a call, and may have got it over the Responses format.
			out.Calls = append(out.Calls, encodeCall(*part.Call, own && !p.hosted))
		case session.ReasoningPart:
			thought.WriteString(part.Text)
		}
	}
	if text := m.Text(); text != "" {
		out.Content = text
	}
	// DeepSeek and others refuse a tool loop without the thinking that led to the call, and ignore or
	// refuse it elsewhere. api.openai.com never sends any.
	if own && !p.hosted && len(out.Calls) > 0 {
		out.ReasoningContent = thought.String()
	}
	return out, out.Content != nil || len(out.Calls) > 0
}

func encodeCall(c tool.RawCall, own bool) call {
	out := call{
		ID: wire.ShortID(c.ID, maxCallID), Type: "function",
		Function: function{wire.Name(c.Name), string(wire.Object(c.Arguments))},
	}
	if own {
		out.Extra = c.Opaque
	}
	return out
}

// outcomes are one tool message each. What a tool message cannot hold follows in a user message.
func (p *Provider) outcomes(m session.Message) [][]byte {
	var list [][]byte
	var shown []session.Part
	for _, o := range m.Parts {
		text := o.Outcome.Output
		for i := range o.Outcome.Attachments {
			a := o.Outcome.Attachments[i]
			if !p.takes(a) {
				text += "\n" + wire.Note(a)
				continue
			}
			text += fmt.Sprintf("\n[%s is in the next message]", a.Name)
			shown = append(shown, session.Part{Kind: session.AttachmentPart, Attachment: &a})
		}
		list = append(list, wire.JSON(message{
			Role: "tool", CallID: wire.ShortID(o.Outcome.Call, maxCallID), Content: text,
		}))
	}
	if len(shown) > 0 {
		list = append(list, wire.JSON(message{Role: "user", Content: p.content(shown)}))
	}
	return list
}

// content is plain text where it can be: simple servers know nothing else.
func (p *Provider) content(parts []session.Part) any {
	var list []part
	plain := true
	for _, item := range parts {
		switch item.Kind {
		case session.TextPart:
			list = append(list, part{Type: "text", Text: item.Text})
		case session.AttachmentPart:
			made := p.attachment(*item.Attachment)
			plain = plain && made.Type == "text"
			list = append(list, made)
		}
	}
	if !plain {
		return list
	}
	var texts []string
	for _, t := range list {
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, "\n")
}

func (p *Provider) takes(a tool.Attachment) bool {
	kind := wire.KindOf(a)
	return kind == wire.Image || kind == wire.Document && p.hosted
}

func (p *Provider) attachment(a tool.Attachment) part {
	if !p.takes(a) {
		return part{Type: "text", Text: wire.Note(a)}
	}
	data := "data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.Data)
	if wire.KindOf(a) == wire.Image {
		return part{Type: "image_url", Image: &image{URL: data}}
	}
	return part{Type: "file", File: &file{Name: a.Name, Data: data}}
}
