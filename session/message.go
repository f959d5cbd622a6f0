package session

import (
	"context"
	"encoding/json"
	"time"

	"adze/tool"
)

// A Role is a message's author.
type Role string

// Message roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // one assistant message's outcomes, in its order
)

// A PartKind is a message part's kind.
type PartKind string

// Part kinds.
const (
	TextPart       PartKind = "text"
	ReasoningPart  PartKind = "reasoning"
	CallPart       PartKind = "call"
	OutcomePart    PartKind = "outcome"
	AttachmentPart PartKind = "attachment"
)

// A Message is one entry in the conversation. It never changes once stored, so an adapter may
// encode it once and cache the bytes by ID.
type Message struct {
	ID    string `json:"id"` // unique in its session
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
	// OwnCall is the user's own call that a user message reports.
	OwnCall tool.CallID `json:"own,omitempty"`
	// Meanwhile marks a user message sent during a turn, which it belongs to.
	Meanwhile bool `json:"meanwhile,omitempty"`
	// Note marks a user message that comes from adze, not from the user.
	Note bool `json:"note,omitempty"`
	// Notes are the notes in a message, in order. Without any it is adze's own remark, such as a
	// correction.
	Notes []Note `json:"notes,omitempty"`
	// Summary marks the user message that replaces earlier ones after compaction.
	Summary bool `json:"summary,omitempty"`
	// Provider, Model, Stop and Usage describe the request behind an assistant message.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Stop     Stop   `json:"stop,omitempty"`
	Usage    *Usage `json:"usage,omitempty"`
	// LentModel marks an answer by a model lent for one turn.
	LentModel bool `json:"lent,omitempty"`
	// Prompt is the request's hash (fingerprint.go). Took is the time from the request to the
	// answer's end, without retries.
	Prompt   string        `json:"prompt_sha256,omitempty"`
	Duration time.Duration `json:"duration_ns,omitempty"`
}

// A Part is one piece in a message; Kind determines the fields in use.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"` // text, reasoning
	// Opaque must go back to the message's provider unchanged with this part: a signature, an
	// encrypted reasoning item.
	Opaque     json.RawMessage  `json:"opaque,omitempty"`
	Call       *tool.RawCall    `json:"call,omitempty"`
	Outcome    *tool.Outcome    `json:"outcome,omitempty"`
	Attachment *tool.Attachment `json:"attachment,omitempty"`
	// Tools are the real names of tools in Text. A model with aliases for them gets those instead.
	Tools []string `json:"tools,omitempty"`

	open *pile // deltas of an unfinished part
}

// ReadMark remembers how much of a conversation was examined. Conversations grow at the end, and
// any other change creates a new slice, so a caller that depends on every message need only examine
// the new ones. The zero value has seen nothing.
type ReadMark struct {
	first *Message
	last  identity
	count int
}

// Examined returns how many of the messages were examined already; 0 for another conversation or
// another state of it.
func (g *ReadMark) Examined(messages []Message) int {
	if g.count == 0 || g.count > len(messages) || g.first != &messages[0] || !g.last.is(&messages[g.count-1]) {
		return 0
	}
	return g.count
}

// MarkAll marks all messages as examined.
func (g *ReadMark) MarkAll(messages []Message) {
	*g = ReadMark{count: len(messages)}
	if g.count > 0 {
		g.first, g.last = &messages[0], identityOf(&messages[g.count-1])
	}
}

// Advance returns Examined and marks all messages.
func (g *ReadMark) Advance(messages []Message) int {
	past := g.Examined(messages)
	g.MarkAll(messages)
	return past
}

// saidMessage is a Message as stored in the log. Outcomes have their own entries; hiding their
// field saves a run without calls the setup of their encoder, 0.2 ms or 1/40 of its time.
type saidMessage struct {
	Message
	Parts []saidPart `json:"parts"`
}

type saidPart struct {
	Part
	Outcome bool `json:"outcome,omitempty"` // never set: hides the field of Part
}

func said(m Message) saidMessage {
	parts := make([]saidPart, len(m.Parts))
	for i, p := range m.Parts {
		parts[i].Part = p
	}
	return saidMessage{m, parts}
}

func (m saidMessage) texts() (out []*string) {
	for i := range m.Parts {
		out = append(out, &m.Parts[i].Text)
	}
	return out
}

// Text joins the text parts of a message.
func (m Message) Text() string {
	text := ""
	for _, p := range m.Parts {
		if p.Kind == TextPart {
			text += p.Text // usually the only part, which is not copied
		}
	}
	return text
}

// Calls returns the calls of an assistant message, in the model's order.
func (m Message) Calls() []tool.RawCall {
	var out []tool.RawCall
	for _, p := range m.Parts {
		if p.Kind == CallPart && p.Call != nil {
			out = append(out, *p.Call)
		}
	}
	return out
}

// Input is one prompt.
type Input struct {
	Text        string
	Attachments []tool.Attachment
	// Words are the user's own words for tool selection if Text holds more, such as a piped file.
	// Empty means all of Text.
	Words string
	// Compose builds the text after the turn has begun, running calls of the user's own as needed;
	// if nil, Text is used.
	Compose func(ctx context.Context, run func(tool.RawCall) tool.Outcome) (string, error)
}

func (in Input) message(id string) Message {
	m := Message{ID: id, Role: User, Parts: []Part{{Kind: TextPart, Text: in.Text}}}
	for _, a := range in.Attachments {
		m.Parts = append(m.Parts, Part{Kind: AttachmentPart, Attachment: &a})
	}
	return m
}

// Usage counts tokens as the provider reported them; missing fields are zero. Input excludes tokens
// read from or written to the provider's cache.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"` // includes reasoning
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Reasoning  int `json:"reasoning,omitempty"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning,
	}
}

// Total returns the sum of all tokens.
func (u Usage) Total() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }
