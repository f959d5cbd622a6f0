// Package uistream encodes session events as parts of the UI message stream, which the AI SDK and
// assistant-stream decode.
//
// The one rule: the wire format has no extensions. Content without a part in the protocol is sent
// as a data part, which clients pass on: a call's progress, a question's subject, a notice.
//
// Start reading at Encoder.Take, then text.go (the model's text), call.go (calls and the questions
// about them) and wire.go. history.go builds full messages from the same parts.
//
// One Encoder encodes one turn for one reader. It ignores events it has already encoded, so a log
// and later events may overlap.
//
// Known limits: the protocol cannot retract streamed parts of an answer. If a request fails and is
// repeated, data-retry declares its step void, and the new answer has a step of its own; the log
// has only the new one. Attachments are not sent.
package uistream

import (
	"encoding/json"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// A Part is one part of a UI message stream. Type determines the fields used. Names are those of
// the AI SDK (package ai, 6 and 7).
type Part struct {
	Type           string          `json:"type"`
	MessageID      string          `json:"messageId,omitempty"`
	ID             string          `json:"id,omitempty"`
	Delta          string          `json:"delta,omitempty"`
	ToolCallID     tool.CallID     `json:"toolCallId,omitempty"`
	ToolName       string          `json:"toolName,omitempty"`
	InputTextDelta string          `json:"inputTextDelta,omitempty"`
	Input          json.RawMessage `json:"input,omitempty"`
	ApprovalID     string          `json:"approvalId,omitempty"`
	Output         json.RawMessage `json:"output,omitempty"`
	ErrorText      string          `json:"errorText,omitempty"`
	Dynamic        bool            `json:"dynamic,omitempty"`
	Data           any             `json:"data,omitempty"`
	Transient      bool            `json:"transient,omitempty"`
	Reason         string          `json:"reason,omitempty"`
	FinishReason   string          `json:"finishReason,omitempty"`
	Usage          *Usage          `json:"usage,omitempty"`
}

// Usage is read by assistant-stream in finish and finish-step. Tokens read from or written to a
// provider's cache count as input.
type Usage struct {
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
}

// Progress is the data of data-progress: a running call's progress. Its part has the call's ID.
type Progress struct {
	ToolCallID tool.CallID  `json:"toolCallId"`
	ToolName   string       `json:"toolName"`
	Title      string       `json:"title,omitempty"`
	Blocks     []tool.Block `json:"blocks,omitempty"`
	Agent      string       `json:"agent,omitempty"` // the subagent that works for the call
	Status     tool.Status  `json:"status,omitempty"`
}

// Notice is the data of data-notice.
type Notice struct {
	Text string `json:"text"`
}

// Claims is the data of data-claims: the answer's statements that the calls do not support, and
// Evidence those supported by a named call. Each quotes its sentence or clause. It stays in the
// message.
type Claims struct {
	Claims   []session.Claim    `json:"claims,omitempty"`
	Evidence []session.Evidence `json:"evidence,omitempty"`
}

// End is the data of data-end: an unfinished turn's end. It stays in the message, while the parts
// error and abort are transient.
type End struct {
	Cause session.Cause `json:"cause"`
	Text  string        `json:"text"`
	Hint  string        `json:"hint,omitempty"`
}

// Retried is the data of data-retry: the request failed and is repeated. The parts of its step so
// far are void: the new answer comes in the next step.
type Retried struct {
	Cause   string `json:"cause"`
	Attempt int    `json:"attempt"`
	Limit   int    `json:"of,omitempty"`
	Void    bool   `json:"void"` // parts of it were sent
}

// A Question is put to the user while a turn waits. It is the data of data-question, whose part has
// its ID.
type Question struct {
	// ID is the approval's ID for a call. A question of the model is answered by the next message.
	ID       string       `json:"id"`
	Kind     string       `json:"kind"` // Permission or Inquiry
	Call     tool.CallID  `json:"toolCallId,omitempty"`
	Tool     string       `json:"toolName,omitempty"`
	Agent    string       `json:"agent,omitempty"`
	Text     string       `json:"text,omitempty"`
	Needs    []string     `json:"needs,omitempty"`
	Preview  []tool.Block `json:"preview,omitempty"`
	Choices  []string     `json:"choices,omitempty"`
	Answered string       `json:"answered,omitempty"` // empty while it waits
	// Input holds repaired arguments; nil means as written by the model.
	Input json.RawMessage `json:"-"`
}

// Kinds of questions.
const (
	Permission = "permission" // may this call be made?
	Inquiry    = "inquiry"    // a question of the model
)

// Options configure an Encoder.
type Options struct {
	// Mask masks secrets; nil masks only those recognized by their shape.
	Mask func() *redact.Masker
	// Blocks returns a running call's blocks; nil shows only titles.
	Blocks func(name string, metadata json.RawMessage) []tool.Block
}

func (o Options) mask() *redact.Masker {
	if o.Mask == nil {
		return &redact.Masker{}
	}
	return o.Mask()
}

// AnswerID returns the ID of a prompt's answer: a turn's output is one message in the interface.
func AnswerID(prompt string) string { return prompt + "-answer" }

// Prompts reports whether a user's message started a turn.
func Prompts(m session.Message) bool {
	return m.Role == session.User && !m.Note && !m.Meanwhile && !m.Summary && m.OwnCall == ""
}
