package responses

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// The longest call_id that api.openai.com accepts.
const maxCallID = 64

// Input items; see the API reference for Responses.
type (
	messageItem struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content []part `json:"content"`
		Phase   string `json:"phase,omitempty"`
	}
	// callItem omits its id: with one, the API looks for the reasoning item of that call.
	callItem struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	outputItem struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output any    `json:"output"` // string or []part
	}
	part struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
		Filename string `json:"filename,omitempty"`
		FileData string `json:"file_data,omitempty"`
	}
)

// callPlace is stored with a call before a reasoning item: the number of reasoning items before it.
type callPlace struct {
	After int `json:"after"`
}

type encoder struct {
	own      string
	hosted   bool
	thoughts bool // send reasoning items back
	plainIDs bool
}

// encode returns one message's items, joined by commas, or nothing for an empty one.
func (e encoder) encode(m session.Message) []byte {
	var list [][]byte
	switch m.Role {
	case session.User:
		list = e.user(m.Parts)
	case session.Assistant:
		list = e.assistant(m)
	case session.ToolRole:
		list = e.outcomes(m)
	}
	return bytes.Join(list, []byte(","))
}

func (e encoder) user(parts []session.Part) [][]byte {
	var content []part
	for _, p := range parts {
		switch {
		case p.Kind == session.TextPart && p.Text != "":
			content = append(content, part{Type: "input_text", Text: p.Text})
		case p.Kind == session.AttachmentPart && p.Attachment != nil:
			content = append(content, e.attachment(*p.Attachment))
		}
	}
	if len(content) == 0 {
		return nil
	}
	return [][]byte{wire.JSON(messageItem{"message", "user", content, ""})}
}

// assistant restores the order of reasoning and calls, which the API checks.
func (e encoder) assistant(m session.Message) [][]byte {
	calls := m.Calls()
	var list [][]byte
	thoughts, solid := 0, 0 // solid is the end of the last item that is not reasoning
	for i, p := range m.Parts {
		switch {
		case e.phase(m, i) != "": // went back with its text
		case p.Kind == session.ReasoningPart && m.Provider == e.own && len(p.Opaque) > 0:
			for len(calls) > 0 && placeOf(calls[0]) == thoughts {
				list = append(list, e.call(calls[0]))
				calls, solid = calls[1:], len(list)
			}
			thoughts++
			if e.sends(p.Opaque) {
				list = append(list, p.Opaque)
			}
		case p.Kind == session.TextPart && p.Text != "":
			list = append(list, wire.JSON(messageItem{"message", "assistant", []part{{Type: "output_text", Text: p.Text}}, e.phase(m, i+1)}))
			solid = len(list)
		}
	}
	for _, c := range calls {
		list = append(list, e.call(c))
		solid = len(list)
	}
	return list[:solid] // trailing reasoning was cut off, and the API refuses it
}

// phase returns the phase of the text before a part, such as commentary, or "". Models answer worse
// if it does not go back.
func (e encoder) phase(m session.Message, i int) string {
	var kept struct{ Phase string }
	if i < len(m.Parts) && m.Provider == e.own && m.Parts[i].Kind == session.ReasoningPart {
		_ = json.Unmarshal(m.Parts[i].Opaque, &kept) // "" otherwise
	}
	return kept.Phase
}

// sends reports whether a reasoning item can be sent back. Without encrypted content api.openai.com
// would look for a stored one; open models have readable thinking in content or summary.
func (e encoder) sends(opaque json.RawMessage) bool {
	var kept struct {
		Type      string            `json:"type"`
		Encrypted string            `json:"encrypted_content"`
		Content   []json.RawMessage `json:"content"`
		Summary   []json.RawMessage `json:"summary"`
	}
	if !e.thoughts || json.Unmarshal(opaque, &kept) != nil || kept.Type != "reasoning" {
		return false
	}
	return kept.Encrypted != "" || !e.hosted && len(kept.Content)+len(kept.Summary) > 0
}

// placeOf returns how many reasoning items precede a call, or -1 if all do.
func placeOf(c tool.RawCall) int {
	at := callPlace{-1}
	if json.Unmarshal(c.Opaque, &at) != nil {
		return -1
	}
	return at.After
}

func (e encoder) call(c tool.RawCall) []byte {
	return wire.JSON(callItem{
		"function_call", e.id(c.ID), wire.Name(c.Name), string(wire.Object(c.Arguments)),
	})
}

func (e encoder) id(id tool.CallID) string {
	if e.plainIDs {
		return wire.ShortID(id, maxCallID)
	}
	return wire.BoundID(id, maxCallID)
}

// outcomes returns one output each. Attachments that an output cannot hold follow in a user
// message.
func (e encoder) outcomes(m session.Message) [][]byte {
	var list [][]byte
	var later []session.Part
	for _, p := range m.Parts {
		item := outputItem{Type: "function_call_output", CallID: e.id(p.Outcome.Call)}
		if e.hosted {
			item.Output = e.shown(*p.Outcome)
		} else {
			var rest []session.Part
			item.Output, rest = wire.ResultText(*p.Outcome, e.takes)
			later = append(later, rest...)
		}
		list = append(list, wire.JSON(item))
	}
	return append(list, e.user(later)...)
}

// shown returns an output for api.openai.com, which may hold images and files.
func (e encoder) shown(o tool.Outcome) any {
	if len(o.Attachments) == 0 {
		return o.Output
	}
	var list []part
	if o.Output != "" {
		list = append(list, part{Type: "input_text", Text: o.Output})
	}
	for _, a := range o.Attachments {
		list = append(list, e.attachment(a))
	}
	return list
}

func (e encoder) takes(a tool.Attachment) bool {
	kind := wire.KindOf(a)
	return kind == wire.Image || kind == wire.Document && e.hosted
}

func (e encoder) attachment(a tool.Attachment) part {
	if !e.takes(a) {
		return part{Type: "input_text", Text: wire.Note(a)}
	}
	data := "data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.Data)
	if wire.KindOf(a) == wire.Image {
		return part{Type: "input_image", ImageURL: data}
	}
	return part{Type: "input_file", Filename: a.Name, FileData: data}
}
