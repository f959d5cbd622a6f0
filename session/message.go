package session

import (
	"context"
	"encoding/json"
	"time"

	"adze/tool"
)

// Role says who speaks.
type Role string

// Roles of messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the outcomes of one assistant message's calls, in its order
)

// PartKind says what a part of a message is.
type PartKind string

// Kinds of parts.
const (
	TextPart       PartKind = "text"
	ReasoningPart  PartKind = "reasoning"
	CallPart       PartKind = "call"
	OutcomePart    PartKind = "outcome"
	AttachmentPart PartKind = "attachment"
)

// Message is one entry of the conversation. Once stored it never changes, so an adapter may encode
// it once and keep the bytes by ID.
type Message struct {
	ID    string `json:"id"` // unique in its session
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
	// Own is the call of the user's own that a message of the user tells of.
	Own tool.CallID `json:"own,omitempty"`
	// Meanwhile says that a message of the user was said while a turn ran, and is part of that.
	Meanwhile bool `json:"meanwhile,omitempty"`
	// Note says that a message of the user is what adze tells the model, not what the user said.
	Note bool `json:"note,omitempty"`
	// Notes are the texts that a note holds, in their order; none: it is a remark of adze's own,
	// such as a correction.
	Notes []Note `json:"notes,omitempty"`
	// Summary says that a message of the user is what compaction put in the place of earlier ones.
	Summary bool `json:"summary,omitempty"`
	// Provider, Model, Stop and Usage tell how an assistant message came to be.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Stop     Stop   `json:"stop,omitempty"`
	Usage    *Usage `json:"usage,omitempty"`
	// Lent says of an answer that its model was lent for the turn; the session's is another one.
	Lent bool `json:"lent,omitempty"`
	// Prompt is the hash of what the model was asked (fingerprint.go), Took the time from the
	// request to the end of the answer, retries not included.
	Prompt string        `json:"prompt_sha256,omitempty"`
	Took   time.Duration `json:"duration_ns,omitempty"`
}

// Part is one piece of a message; Kind says which fields count.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"` // text, reasoning
	// Opaque is what the message's provider wants back unchanged with this part: a signature, an
	// encrypted reasoning item.
	Opaque     json.RawMessage  `json:"opaque,omitempty"`
	Call       *tool.RawCall    `json:"call,omitempty"`
	Outcome    *tool.Outcome    `json:"outcome,omitempty"`
	Attachment *tool.Attachment `json:"attachment,omitempty"`
	// Tools are the tools that Text names, by their real names: a model that knows them by others
	// is told those.
	Tools []string `json:"tools,omitempty"`

	open *pile // deltas of a part that still arrives
}

// Grown remembers how much of a conversation was looked at. One grows at its end, and where
// anything else of it changes it is made anew, elsewhere in memory; so who wants to know something
// of every message need only look at the new ones. The zero value has seen nothing.
type Grown struct {
	first *Message
	last  identity
	seen  int
}

// Past is how many of these messages are those that were looked at; if 0, it is another
// conversation, or another state of it.
func (g *Grown) Past(messages []Message) int {
	if g.seen == 0 || g.seen > len(messages) || g.first != &messages[0] || !g.last.is(&messages[g.seen-1]) {
		return 0
	}
	return g.seen
}

// Saw notes that all of these messages were looked at.
func (g *Grown) Saw(messages []Message) {
	*g = Grown{seen: len(messages)}
	if g.seen > 0 {
		g.first, g.last = &messages[0], identityOf(&messages[g.seen-1])
	}
}

// Since is Past, and notes all.
func (g *Grown) Since(messages []Message) int {
	past := g.Past(messages)
	g.Saw(messages)
	return past
}

// saidMessage is a Message as the log keeps it. Outcomes have entries of their own; leaving their
// field out spares a run without calls the preparation of their encoding, 0.2 ms or one part in
// forty.
type saidMessage struct {
	Message
	Parts []saidPart `json:"parts"`
}

type saidPart struct {
	Part
	Outcome bool `json:"outcome,omitempty"` // never set: it hides the field of Part
}

func said(m Message) saidMessage {
	parts := make([]saidPart, len(m.Parts))
	for i, p := range m.Parts {
		parts[i].Part = p
	}
	return saidMessage{m, parts}
}

// texts are where long texts may stand.
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
			text += p.Text // nearly always the only one, which is not copied
		}
	}
	return text
}

// Calls lists the calls of an assistant message, in the model's order.
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
	// Words are what the user said themselves, where Text holds more, such as a file that was piped
	// in: tools are chosen by them. If empty, all of Text.
	Words string
	// Compose makes the text when the turn has begun, by calls of the user's own where it needs them;
	// if nil, it is Text.
	Compose func(ctx context.Context, run func(tool.RawCall) tool.Outcome) (string, error)
}

func (in Input) message(id string) Message {
	m := Message{ID: id, Role: User, Parts: []Part{{Kind: TextPart, Text: in.Text}}}
	for _, a := range in.Attachments {
		m.Parts = append(m.Parts, Part{Kind: AttachmentPart, Attachment: &a})
	}
	return m
}

// Usage counts tokens as the provider reported them; a field it did not report is zero. Input does
// not include what was read from or written to the provider's cache.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"` // reasoning included
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

// Total is every token of u.
func (u Usage) Total() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }
