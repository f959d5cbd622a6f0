package tool

import (
	"encoding/json"
	"time"
)

// CallID identifies a call from the model's request to its outcome. The adapter keeps the
// provider's id or creates one.
type CallID string

// Origin is a call's form in the model's message, or a hook as the arguments' author.
type Origin string

// Origins. Repaired calls and calls in text never have more rights than native ones.
const (
	Native   Origin = "native"
	Alias    Origin = "alias"
	Repaired Origin = "repaired"
	FromText Origin = "text"
	// FromCommand is a call for the user's command: part of a file that a shell runs or that is
	// read.
	FromCommand Origin = "command"
	// FromHook is a call with arguments by a hook.
	FromHook Origin = "hook"
)

// RawCall is a model's unchecked request, assembled by its adapter.
type RawCall struct {
	ID   CallID `json:"id"`
	Name string `json:"name"`
	// Arguments holds the model's text unchanged; it may be invalid JSON.
	Arguments string `json:"arguments"`
	// Origin is Native or FromText.
	Origin Origin `json:"origin,omitempty"`
	// Opaque must go back to the provider unchanged with this call, such as a signature.
	Opaque json.RawMessage `json:"opaque,omitempty"`
	// Message is the id of the message with the call; the session sets it before hydration.
	Message string `json:"-"`
}

// Status is the way in which a call ended.
type Status string

// Every call ends in exactly one of these.
const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Invalid   Status = "invalid"
	Denied    Status = "denied"
	Aborted   Status = "aborted"
)

// Outcome is the result of one call.
type Outcome struct {
	Call   CallID `json:"call"`
	Tool   string `json:"tool"`
	Status Status `json:"status"`
	// Code is stable, for scripts and the log; empty when completed.
	Code string `json:"code,omitempty"`
	// Title is one line for the user: the heading if there is one.
	Title   string  `json:"title,omitempty"`
	Heading Heading `json:"heading,omitzero"`
	// Output is for the model, clipped.
	Output      string       `json:"output"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Metadata is for panes and the log, never for the model.
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"`
	OutputFile string          `json:"output_file,omitempty"`
	// Changed lists the files changed by the call, as shown to a user.
	Changed  []string      `json:"changed,omitempty"`
	Duration time.Duration `json:"duration_ns"`
	// Stop ends the turn.
	Stop bool `json:"stop,omitempty"`
	// Pending means the call's subject is still running.
	Pending bool `json:"pending,omitempty"`
	// Repair holds the arguments before and after repair; like Output, it stays local and is never
	// redacted.
	Repair *Repair `json:"repair,omitempty"`
	// Record is the audit record, stored with the outcome.
	Record Record `json:"record"`
}

// EventKind is the kind of a tool event.
type EventKind string

// Tool event kinds. The session announces the end of a call once the outcome is stored.
const (
	Queued  EventKind = "queue" // arguments are read; the call waits for its turn and permission
	Started EventKind = "start"
	Updated EventKind = "update"
	Asked   EventKind = "ask"
)

// An Event is the progress of one call. A later update may replace earlier ones; other events must
// not be dropped.
type Event struct {
	Kind     EventKind
	Call     CallID
	Parent   CallID // the call that started the subagent, or ""
	Agent    string // the subagent, or "" for the main conversation
	Tool     string
	Title    string
	Heading  Heading         // with Queued, Started and Updated, if the tool has one
	Args     json.RawMessage // redacted; with Queued and Started
	Metadata json.RawMessage // with Updated
	Origin   Origin          // with Started
	Repair   *Repair         // with Started
	// NoSchemaMode is set with Started if nothing validated the arguments.
	NoSchemaMode NoSchemaMode
	Needs        []Need    // with Asked
	Decision     *Decision // with Asked
}
