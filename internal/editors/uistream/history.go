package uistream

import (
	"encoding/base64"
	"encoding/json"

	"adze/session"
	"adze/tool"
)

// A Message is a full message in the AI SDK's format (UIMessage).
type Message struct {
	ID    string  `json:"id"`
	Role  string  `json:"role"`
	Parts []Piece `json:"parts"`
}

// A Piece is a part of a Message.
type Piece struct {
	Type       string          `json:"type"`
	ID         string          `json:"id,omitempty"` // of reasoning
	Text       string          `json:"text,omitempty"`
	State      string          `json:"state,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	ToolCallID tool.CallID     `json:"toolCallId,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	ErrorText  string          `json:"errorText,omitempty"`
	MediaType  string          `json:"mediaType,omitempty"` // of a file, like the following fields
	Filename   string          `json:"filename,omitempty"`
	URL        string          `json:"url,omitempty"`
	Data       any             `json:"data,omitempty"`

	id string
}

// UserMessage converts a user's text and attachments to a message.
func UserMessage(m session.Message) Message {
	out := Message{ID: m.ID, Role: "user", Parts: []Piece{{Type: "text", Text: m.Text()}}}
	for _, p := range m.Parts {
		if a := p.Attachment; a != nil {
			url := "data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.Data)
			out.Parts = append(out.Parts, Piece{Type: "file", MediaType: a.MediaType, Filename: a.Name, URL: url})
		}
	}
	return out
}

// Fold adds a part to the message, as the AI SDK does with a stream, without transient parts.
func (m *Message) Fold(p Part) {
	switch p.Type {
	case "start":
		m.ID, m.Role = p.MessageID, "assistant"
		if m.Parts == nil {
			m.Parts = []Piece{} // an empty list instead of null
		}
	case "start-step":
		m.Parts = append(m.Parts, Piece{Type: "step-start"})
	case "text-start":
		m.Parts = append(m.Parts, Piece{Type: "text", State: "streaming", id: p.ID})
	case "reasoning-start":
		m.Parts = append(m.Parts, Piece{Type: "reasoning", State: "streaming", id: p.ID, ID: p.ID})
	case "text-delta", "reasoning-delta":
		if at := m.open(p.ID); at != nil {
			at.Text += p.Delta
		}
	case "text-end", "reasoning-end":
		if at := m.open(p.ID); at != nil {
			at.State = "done"
		}
	case "tool-input-start":
		m.Parts = append(m.Parts, Piece{Type: "dynamic-tool", ToolCallID: p.ToolCallID, ToolName: p.ToolName, State: "input-streaming"})
	case "tool-input-available":
		m.call(p.ToolCallID, func(at *Piece) { at.State, at.Input = "input-available", p.Input })
	case "data-end", "data-claims":
		m.Parts = append(m.Parts, Piece{Type: p.Type, Data: p.Data})
	case "data-retry":
		m.void()
	case "tool-output-available":
		m.call(p.ToolCallID, func(at *Piece) { at.State, at.Output = "output-available", p.Output })
	case "tool-output-error":
		m.call(p.ToolCallID, func(at *Piece) { at.State, at.ErrorText = "output-error", p.ErrorText })
	}
}

// void removes the open step's parts.
func (m *Message) void() {
	for i := len(m.Parts) - 1; i >= 0; i-- {
		if m.Parts[i].Type == "step-start" {
			m.Parts = m.Parts[:i]
			return
		}
	}
}

func (m *Message) open(id string) *Piece {
	for i := len(m.Parts) - 1; i >= 0; i-- {
		if m.Parts[i].id == id {
			return &m.Parts[i]
		}
	}
	return nil
}

func (m *Message) call(id tool.CallID, change func(*Piece)) {
	for i := range m.Parts {
		if m.Parts[i].Type == "dynamic-tool" && m.Parts[i].ToolCallID == id {
			change(&m.Parts[i])
		}
	}
}
