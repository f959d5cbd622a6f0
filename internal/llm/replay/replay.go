// Package replay records a model's requests and answers and replays them without the model: for bug
// reports, for workflow tests, and to find where a changed workspace leads to another turn.
//
// The one rule: a run that no longer matches its recording fails and names the step and the
// difference.
//
// A recording is a sequence of indented JSON values: a Header, then one Step per model request with
// the new messages and every chunk of the answer. It contains neither addresses nor headers. Known
// secrets, text shaped like secrets, and values of key fields are masked before writing (mask.go)
// and before comparing, so that a recording can be shared.
//
// Start reading at Recorder.Stream and Player.Stream.
//
// Known limits: two subagents with equal prompts at the same time may get each other's answers.
// Durations in outputs ("in 0.3 s") and session ids are not compared; a masked call argument is
// replayed as the mask. If whole steps are missing at the end, that shows only when the run
// requests them.
package replay

import (
	"fmt"

	"adze/session"
	"adze/tool"
)

// Format is the version of the recording format.
const Format = "adze.recording/1"

// A Header is a recording's first value.
type Header struct {
	Format   string `json:"format"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// A Step is one model request and its answer.
type Step struct {
	Step int `json:"step"`
	// Agent is the requesting subagent, and Talk its conversation by the hash of its first prompt;
	// both are empty for the main one.
	Agent string `json:"agent,omitempty"`
	Talk  string `json:"talk,omitempty"`
	// Hashes for the reader. They are not compared, because a system prompt contains the date and
	// the folder.
	System      string        `json:"system_sha256,omitempty"`
	Tools       string        `json:"tools_digest,omitempty"`
	NewMessages []SentMessage `json:"sent"` // messages added since the previous request
	Answer      []Answer      `json:"answer"`
}

// SentMessage is one message as the model reads it.
type SentMessage struct {
	Role  session.Role `json:"role"`
	Parts []SentPart   `json:"parts"`
}

// SentPart is one part, without durations and other data that the model does not see.
type SentPart struct {
	Text       string      `json:"text,omitempty"`
	Reasoning  string      `json:"reasoning,omitempty"`
	Call       *FullCall   `json:"call,omitempty"`
	Outcome    *SentResult `json:"outcome,omitempty"`
	Attachment string      `json:"attachment_sha256,omitempty"`
}

// SentResult is a tool result as the model reads it.
type SentResult struct {
	Call   tool.CallID `json:"call"`
	Tool   string      `json:"tool"`
	Status tool.Status `json:"status"`
	Output string      `json:"output"`
}

// An Answer is one chunk; exactly one field is set.
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

// A Thought is a reasoning chunk. Opaque is JSON stored as text, because its bytes must not change.
type Thought struct {
	Delta  string `json:"delta,omitempty"`
	Opaque string `json:"opaque,omitempty"`
	// See session.Reasoning.
	Earlier bool `json:"earlier,omitempty"`
}

// A FullCall is a call chunk, or a call in the history, which has only the first three fields;
// Opaque is as in Thought.
type FullCall struct {
	ID        tool.CallID `json:"id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
	Origin    tool.Origin `json:"origin,omitempty"`
	Opaque    string      `json:"opaque,omitempty"`
}

// A FormingCall is a forming chunk. Partial arguments are not recorded: a split secret would not be
// recognized, and the call has them complete.
type FormingCall struct {
	ID    tool.CallID `json:"id,omitempty"`
	Name  string      `json:"name,omitempty"`
	Bytes int         `json:"bytes"`
}

// A Failure is a recorded *session.ProviderError.
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
