// Package replay writes down what a model was sent and what it answered, and serves it again without the
// model: for bug reports, for tests of a workflow, and to see where a changed workspace takes another turn.
//
// The one rule: a run that no longer fits its recording fails and names the step and the difference; it
// never goes on with answers to another question.
//
// A recording is a sequence of indented JSON values: a Header, then one Step for each model request with
// what was new in it and every chunk of the answer. Shapes of secrets are masked before anything is written
// (mask.go), and again before anything is compared, so that a recording can be handed on.
//
// Start reading at Recorder.Stream and Player.Stream.
//
// Steps go by count in each conversation: the main one, and each subagent by its name.
//
// Known limits: two subagents of one name that run beside each other cannot be recorded, and a subagent that is
// continued by its id is not found when that is played. Times in outputs ("in 0.3 s") and ids of sessions are
// not compared.
package replay

import (
	"fmt"

	"adze/session"
	"adze/tool"
)

// Format names the shape of a recording.
const Format = "adze.recording/1"

// Header opens a recording.
type Header struct {
	Format   string `json:"format"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// Step is one model request and its answer.
type Step struct {
	Step int `json:"step"`
	// Agent is the subagent that asked; empty: the main conversation.
	Agent string `json:"agent,omitempty"`
	// System and Tools are hashes: they are compared, and their texts are adze's own.
	System string   `json:"system_sha256,omitempty"`
	Tools  string   `json:"tools_digest,omitempty"`
	Sent   []Sent   `json:"sent"` // what the request has more than the one before of its conversation
	Answer []Answer `json:"answer"`
}

// Sent is one message as a model reads it.
type Sent struct {
	Role  session.Role `json:"role"`
	Parts []SentPart   `json:"parts"`
}

// SentPart is one part of it. Durations and other facts that a model does not see are left out.
type SentPart struct {
	Text       string      `json:"text,omitempty"`
	Reasoning  string      `json:"reasoning,omitempty"`
	Call       *SentCall   `json:"call,omitempty"`
	Outcome    *SentResult `json:"outcome,omitempty"`
	Attachment string      `json:"attachment_sha256,omitempty"`
}

// SentCall is a call in the history.
type SentCall struct {
	ID        tool.CallID `json:"id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
}

// SentResult is an outcome as the model gets it.
type SentResult struct {
	Call   tool.CallID `json:"call"`
	Tool   string      `json:"tool"`
	Status tool.Status `json:"status"`
	Output string      `json:"output"`
}

// Answer is one chunk; exactly one field is set.
type Answer struct {
	Text      *string        `json:"text,omitempty"`
	Reasoning *Thought       `json:"reasoning,omitempty"`
	Forming   *FormingCall   `json:"forming,omitempty"`
	Call      *FullCall      `json:"call,omitempty"`
	Done      *session.Usage `json:"usage,omitempty"`
	Stop      session.Stop   `json:"stop,omitempty"` // with Done
	Notice    string         `json:"notice,omitempty"`
	Error     *Failure       `json:"error,omitempty"`
}

// Thought is a reasoning chunk. Opaque is JSON kept as text, because its bytes must not change.
type Thought struct {
	Delta  string `json:"delta,omitempty"`
	Opaque string `json:"opaque,omitempty"`
}

// FullCall is a call chunk; Opaque as in Thought.
type FullCall struct {
	ID        tool.CallID `json:"id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
	Origin    tool.Origin `json:"origin,omitempty"`
	Opaque    string      `json:"opaque,omitempty"`
}

// FormingCall is a forming chunk.
type FormingCall struct {
	ID    tool.CallID `json:"id,omitempty"`
	Name  string      `json:"name,omitempty"`
	Bytes int         `json:"bytes"`
}

// Failure is a recorded *session.ProviderError.
type Failure struct {
	Kind    session.ErrorKind `json:"kind"`
	Status  int               `json:"status,omitempty"`
	Message string            `json:"message"`
	Hint    string            `json:"hint,omitempty"`
}

func failed(step int, format string, args ...any) *session.ProviderError {
	return &session.ProviderError{
		Kind:    session.ReplayError,
		Message: fmt.Sprintf("recording, step %d: ", step) + fmt.Sprintf(format, args...),
		Hint:    "the run no longer fits its recording; record it again, or restore the workspace",
	}
}
