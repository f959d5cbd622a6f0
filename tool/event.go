package tool

import (
	"encoding/json"
	"time"
)

// CallID names one call from the model's request to its outcome. The adapter that received the call
// keeps the provider's id or mints one.
type CallID string

// Origin says how a call was written by the model, or that a hook wrote its arguments.
type Origin string

// Origins. A repaired or text call never has more rights than a native one.
const (
	Native   Origin = "native"
	Alias    Origin = "alias"
	Repaired Origin = "repaired"
	FromText Origin = "text"
	// FromCommand is a call of a command that the user gave: a part of a file that a shell runs
	// or that is read.
	FromCommand Origin = "command"
	// FromHook is a call whose arguments a hook wrote.
	FromHook Origin = "hook"
)

// RawCall is a model's request as its adapter assembled it: whole, but unchecked.
type RawCall struct {
	ID   CallID `json:"id"`
	Name string `json:"name"`
	// Arguments is what the model wrote, byte for byte; it need not be JSON.
	Arguments string `json:"arguments"`
	// Origin is Native or FromText.
	Origin Origin `json:"origin,omitempty"`
	// Opaque is what the provider wants back unchanged with this call, such as a signature.
	Opaque json.RawMessage `json:"opaque,omitempty"`
	// Message is the message that holds the call; the session sets it before hydration.
	Message string `json:"-"`
}

// Status is how a call ended.
type Status string

// Every call ends in exactly one of these.
const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Invalid   Status = "invalid"
	Denied    Status = "denied"
	Aborted   Status = "aborted"
)

// Outcome is what the pipeline concluded about one call.
type Outcome struct {
	Call   CallID `json:"call"`
	Tool   string `json:"tool"`
	Status Status `json:"status"`
	// Code is stable, for scripts and the log; empty when completed.
	Code string `json:"code,omitempty"`
	// Title is one line for the user: its heading, where it has one.
	Title   string  `json:"title,omitempty"`
	Heading Heading `json:"heading,omitzero"`
	// Output is for the model, clipped.
	Output      string       `json:"output"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Metadata is for panes and the log, never for the model.
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"`
	OutputFile string          `json:"output_file,omitempty"`
	// Changed lists files that the call changed, as shown to a user.
	Changed  []string      `json:"changed,omitempty"`
	Duration time.Duration `json:"duration_ns"`
	// Stop ends the turn.
	Stop bool `json:"stop,omitempty"`
	// Pending says that what the call asked after goes on by itself.
	Pending bool `json:"pending,omitempty"`
	// Repair is the fix of its arguments, before and after; local like Output, never redacted.
	Repair *Repair `json:"repair,omitempty"`
	// Record is the audit record, stored with the outcome.
	Record Record `json:"record"`
}

// EventKind names what happened to a call while it was in the pipeline.
type EventKind string

// Kinds of tool events. The end of a call is not among them: the session announces the outcome once
// it is stored.
const (
	Queued  EventKind = "queue" // its arguments are read; it starts when it is its turn and it is allowed
	Started EventKind = "start"
	Updated EventKind = "update"
	Asked   EventKind = "ask"
)

// Event is progress of one call. Updates of one call replace each other; nothing else may be
// dropped.
type Event struct {
	Kind     EventKind
	Call     CallID
	Parent   CallID // the call that started the subagent which made this one; if empty, the main conversation's
	Agent    string // the name of that subagent
	Tool     string
	Title    string
	Heading  Heading         // with Queued, Started and Updated, if its tool makes one
	Args     json.RawMessage // redacted; with Queued and Started
	Metadata json.RawMessage // with Updated
	Origin   Origin          // with Started
	Repair   *Repair         // with Started
	// NoSchemaMode is set, with Started, where nothing validated the arguments.
	NoSchemaMode NoSchemaMode
	Needs        []Need    // with Asked
	Decision     *Decision // with Asked
}
