// Package uistream turns the events of a session into what user interfaces read: parts of the UI
// message stream, which the AI SDK and assistant-stream decode.
//
// The one rule: nothing of our own is on the wire. What the protocol has no part for goes as a
// data part, which it hands through: progress of a call, what a question is about, a notice.
//
// Start reading at Encoder.Take, then text.go (what a model says), call.go (its calls and the
// questions about them) and wire.go. history.go makes whole messages of the same parts.
//
// One Encoder tells one turn to one reader. It takes what it has told already once more without
// telling it twice, so that a log and what comes behind it may overlap.
//
// Known limits: no part of the protocol takes back what was streamed of an answer. Where a
// request fails and is made again, data-retry says that what its step has told is void, and the new
// answer has a step of its own; what is read from the log has the new one alone. Attachments are
// not told.
package uistream

import (
	"encoding/json"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// Part is one part of a UI message stream; Type says which fields count. The names are those of the
// AI SDK (package ai, 6 and 7).
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

// Usage is what assistant-stream reads in finish and finish-step; what a provider's cache read or
// took counts as input.
type Usage struct {
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
}

// Progress is the data of data-progress: how far a running call is. Its part has the call's id.
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

// Claims is the data of data-claims: statements of the answer that the calls do not show, and
// Evidence those that a named call shows. Each quotes its sentence or clause. It stays in the
// message.
type Claims struct {
	Claims   []session.Claim    `json:"claims,omitempty"`
	Evidence []session.Evidence `json:"evidence,omitempty"`
}

// End is the data of data-end: how a turn ended that did not come to its own end. It stays in the
// message, where the parts error and abort are for the moment.
type End struct {
	Cause session.Cause `json:"cause"`
	Text  string        `json:"text"`
	Hint  string        `json:"hint,omitempty"`
}

// Retried is the data of data-retry: the request failed and is made again. What its step has told
// before it is void: the answer that takes its place comes in the next step.
type Retried struct {
	Cause   string `json:"cause"`
	Attempt int    `json:"attempt"`
	Of      int    `json:"of,omitempty"`
	Void    bool   `json:"void"` // something of it was told
}

// Question is what a user is asked while a turn waits. It is the data of data-question, whose part
// has its id.
type Question struct {
	// ID is the approval's where a call needs one; that of a question of the model is answered by
	// the next message.
	ID       string       `json:"id"`
	Kind     string       `json:"kind"` // Permission or Inquiry
	Call     tool.CallID  `json:"toolCallId,omitempty"`
	Tool     string       `json:"toolName,omitempty"`
	Agent    string       `json:"agent,omitempty"`
	Text     string       `json:"text,omitempty"`
	Needs    []string     `json:"needs,omitempty"`
	Preview  []tool.Block `json:"preview,omitempty"`
	Choices  []string     `json:"choices,omitempty"`
	Answered string       `json:"answered,omitempty"` // if empty, it waits
	// Input is what the call's arguments were made into, where they were mended; if nil, they are as
	// the model wrote them.
	Input json.RawMessage `json:"-"`
}

// The kinds of questions.
const (
	Permission = "permission" // may this call be made?
	Inquiry    = "inquiry"    // what the model wants to know
)

// Options are what an Encoder needs beside the events.
type Options struct {
	// Mask hides secrets; if nil, only those that are known by their look.
	Mask func() *redact.Masker
	// Blocks shows the metadata of a running call; if nil, only titles are shown.
	Blocks func(name string, metadata json.RawMessage) []tool.Block
}

func (o Options) mask() *redact.Masker {
	if o.Mask == nil {
		return &redact.Masker{}
	}
	return o.Mask()
}

// AnswerID names the answer to a prompt: all that a turn says is one message of the interface.
func AnswerID(prompt string) string { return prompt + "-answer" }

// Prompts reports what a user said to begin a turn.
func Prompts(m session.Message) bool {
	return m.Role == session.User && !m.Note && !m.Meanwhile && !m.Summary && m.Own == ""
}
