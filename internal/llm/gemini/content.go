package gemini

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

// unsigned replaces the signature of another model's call. Gemini 3 refuses a call without one;
// Google's page on thought signatures documents this value.
const unsigned = "skip_thought_signature_validator"

// Parts of a content; see the API reference for generateContent.
type (
	part struct {
		Text      *string           `json:"text,omitempty"`
		Thought   bool              `json:"thought,omitempty"`
		Call      *functionCall     `json:"functionCall,omitempty"`
		Response  *functionResponse `json:"functionResponse,omitempty"`
		Data      *blob             `json:"inlineData,omitempty"`
		Signature string            `json:"thoughtSignature,omitempty"`
	}
	functionCall struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	functionResponse struct {
		ID       string `json:"id,omitempty"`
		Name     string `json:"name"`
		Response result `json:"response"`
		Parts    []part `json:"parts,omitempty"` // since Gemini 3
	}
	// The API documents these keys for a function's output and error.
	result struct {
		Output *string `json:"output,omitempty"`
		Error  *string `json:"error,omitempty"`
	}
	blob struct {
		MediaType string `json:"mimeType"`
		Data      []byte `json:"data"` // base64 in JSON
	}
)

// opaquePart holds data that the API wants back unchanged. It is stored with a call, with a
// thought, or after a text as a separate reasoning part.
type opaquePart struct {
	// ID: the server gave the call an id. It is sent back with the call's own id, which is the same
	// unless the server repeated itself.
	ID        bool   `json:"id,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Text: the signature belongs to the last Bytes bytes of the text before it. A signed part must
	// not be joined with others.
	Text  bool `json:"text,omitempty"`
	Bytes int  `json:"bytes,omitempty"`
	Calls int  `json:"calls,omitempty"` // that came before it
}

func unseal(opaque json.RawMessage) opaquePart {
	var s opaquePart
	_ = json.Unmarshal(opaque, &s) // another format's data has none of these fields
	return s
}

type encoder struct {
	own    string
	nested bool // Gemini 3: media inside results, and no call without a signature
	seals  bool
	signed bool
}

// encode returns the parts of a user or model message, joined by commas, or nothing for an empty
// one.
func (e encoder) encode(m session.Message) []byte {
	if m.Role == session.Assistant {
		return joined(e.assistant(m))
	}
	var list []part
	for _, p := range m.Parts {
		switch {
		case p.Kind == session.TextPart && p.Text != "":
			list = append(list, part{Text: &p.Text})
		case p.Kind == session.AttachmentPart && p.Attachment != nil:
			list = append(list, attachment(*p.Attachment))
		}
	}
	return joined(list)
}

func joined(list []part) []byte {
	raw := make([][]byte, len(list))
	for i, p := range list {
		raw[i] = wire.JSON(p)
	}
	return bytes.Join(raw, []byte(","))
}

func (e encoder) assistant(m session.Message) []part {
	var list []part
	calls, sent := m.Calls(), 0
	call := func() part {
		sent++
		return e.call(calls[sent-1], m.Provider == e.own, sent == 1)
	}
	for _, p := range m.Parts {
		var s opaquePart
		if e.seals && m.Provider == e.own {
			s = unseal(p.Opaque)
		}
		switch {
		case p.Kind == session.TextPart && p.Text != "":
			list = append(list, part{Text: &p.Text})
		case p.Kind != session.ReasoningPart || s.Signature == "":
			continue
		case s.Text:
			list = signed(list, s)
		default:
			list = append(list, part{Text: &p.Text, Thought: true, Signature: s.Signature})
		}
		for sent < min(s.Calls, len(calls)) {
			list = slices.Insert(list, len(list)-1, call())
		}
	}
	for sent < len(calls) {
		list = append(list, call())
	}
	return list
}

// signed restores the signature at the end of the preceding text.
func signed(list []part, s opaquePart) []part {
	n := len(list) - 1
	if n < 0 || list[n].Text == nil || list[n].Thought || s.Bytes > len(*list[n].Text) || s.Bytes == 0 {
		empty := ""
		return append(list, part{Text: &empty, Signature: s.Signature})
	}
	whole := *list[n].Text
	before, end := whole[:len(whole)-s.Bytes], whole[len(whole)-s.Bytes:]
	if before == "" {
		list[n].Signature = s.Signature
		return list
	}
	list[n].Text = &before
	return append(list, part{Text: &end, Signature: s.Signature})
}

// call encodes a call. Of parallel calls only the first has a signature.
func (e encoder) call(c tool.RawCall, own, first bool) part {
	var s opaquePart
	if own {
		s = unseal(c.Opaque)
	}
	p := part{Call: &functionCall{Name: wire.Name(c.Name), Args: wire.Object(c.Arguments)}}
	if s.ID {
		p.Call.ID = string(c.ID)
	}
	if e.seals {
		p.Signature = s.Signature
	}
	if (e.nested || e.signed) && first && p.Signature == "" {
		p.Signature = unsigned
	}
	return p
}

// outcomes encodes one response for each call of the preceding message, in its order. A response
// has the name that the call used, which may differ from the tool's, and the server's id if there
// was one.
func (e encoder) outcomes(asked, m session.Message) []byte {
	calls := asked.Calls()
	list := make([]part, len(m.Parts))
	for i, p := range m.Parts {
		text, media := e.told(*p.Outcome)
		r := &functionResponse{Name: wire.Name(calls[i].Name), Parts: media}
		if asked.Provider == e.own && unseal(calls[i].Opaque).ID {
			r.ID = string(calls[i].ID)
		}
		r.Response.Output = &text
		if p.Outcome.Status != tool.Completed {
			r.Response = result{Error: &text}
		}
		list[i] = part{Response: r}
	}
	return joined(list)
}

// told returns an outcome's text and the media beside it.
func (e encoder) told(o tool.Outcome) (string, []part) {
	text := o.Output
	var media []part
	for _, a := range o.Attachments {
		switch {
		case !takes(a):
			text += "\n" + wire.Note(a)
		case e.nested:
			text += fmt.Sprintf("\n[%s is attached]", a.Name)
			media = append(media, attachment(a))
		default:
			text += fmt.Sprintf("\n[%s is in the next message]", a.Name)
		}
	}
	return text, media
}

// shown returns the media that cannot stand beside their result.
func (e encoder) shown(m session.Message) [][]byte {
	var list [][]byte
	for _, p := range m.Parts {
		for _, a := range p.Outcome.Attachments {
			if takes(a) {
				list = append(list, wire.JSON(attachment(a)))
			}
		}
	}
	return list
}

// takes reports whether the API reads a media type; GIF is the one common image type it does not.
func takes(a tool.Attachment) bool {
	kind := wire.KindOf(a)
	return kind == wire.Document || kind == wire.Image && !strings.HasPrefix(strings.ToLower(a.MediaType), "image/gif")
}

func attachment(a tool.Attachment) part {
	if !takes(a) {
		note := wire.Note(a)
		return part{Text: &note}
	}
	return part{Data: &blob{a.MediaType, a.Data}}
}
