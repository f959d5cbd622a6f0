// Package replay writes down what a model was sent and what it answered, and serves it again
// without the model: for bug reports, for tests of a workflow, and to see where a changed workspace
// takes another turn.
//
// The one rule: a run that no longer fits its recording fails and names the step and the
// difference; it never goes on with answers to another question.
//
// A recording is a sequence of indented JSON values: a Header, then one Step for each model request
// with what was new in it and every chunk of the answer. It holds neither addresses nor headers.
// Secrets that the recorder was told, shapes of secrets, and what stands where keys stand are
// masked before anything is written (mask.go), and again before anything is compared, so that a
// recording can be handed on.
//
// Start reading at Recorder.Stream and Player.Stream.
//
// Known limits: two subagents that are asked the same at the same time may get each other's
// answers. Times in outputs ("in 0.3 s") and ids of sessions are not compared; a masked argument of
// a call is replayed as the mask. A recording from which whole steps were cut off at its end is
// found out only when the run asks for them.
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
	// Agent is the subagent that asked, and Talk its conversation, by the hash of what it was asked
	// first; both are empty for the main one.
	Agent string `json:"agent,omitempty"`
	Talk  string `json:"talk,omitempty"`
	// System and Tools are hashes for the reader: a system prompt names the day and the folder, so
	// they are not compared.
	System string   `json:"system_sha256,omitempty"`
	Tools  string   `json:"tools_digest,omitempty"`
	Sent   []Sent   `json:"sent"` // what the request has more than the one before
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
	Call       *FullCall   `json:"call,omitempty"`
	Outcome    *SentResult `json:"outcome,omitempty"`
	Attachment string      `json:"attachment_sha256,omitempty"`
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
	// Earlier is that of session.Reasoning.
	Earlier bool `json:"earlier,omitempty"`
}

// FullCall is a call chunk, or a call in the history, which has only the first three; Opaque as in
// Thought.
type FullCall struct {
	ID        tool.CallID `json:"id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
	Origin    tool.Origin `json:"origin,omitempty"`
	Opaque    string      `json:"opaque,omitempty"`
}

// FormingCall is a forming chunk. What there is of its arguments is not recorded: a secret that
// comes in pieces would not be known for one, and the call has them whole.
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
	Cut     bool              `json:"cut,omitempty"` // the answer broke off
}

func failed(step int, format string, args ...any) *session.ProviderError {
	return &session.ProviderError{
		Kind:    session.ReplayError,
		Message: fmt.Sprintf("recording, step %d: ", step) + fmt.Sprintf(format, args...),
		Hint:    "the run no longer fits its recording; record it again, or restore the workspace",
	}
}
