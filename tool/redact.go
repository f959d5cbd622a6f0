package tool

import (
	"encoding/json"
	"slices"
	"time"
)

// Redaction is the mandatory allowlist of top-level fields, of arguments and of metadata, that may leave
// for log and audit. Its zero value is undeclared, and a tool with it does not register.
type Redaction struct {
	declared bool
	fields   []string
}

// Expose declares the fields that may be logged; Expose() declares that none may.
func Expose(fields ...string) Redaction {
	return Redaction{declared: true, fields: slices.Clone(fields)}
}

// Apply keeps the exposed fields of a JSON object; anything else becomes an empty object.
func (r Redaction) Apply(raw json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return json.RawMessage(`{}`)
	}
	kept := map[string]json.RawMessage{}
	for _, field := range r.fields {
		if value, ok := object[field]; ok {
			kept[field] = value
		}
	}
	out, err := json.Marshal(kept)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

// Record is the audit record of one call. Of arguments it holds what Redact exposed; Needs and Decisions are
// whole, because they are what was decided on.
type Record struct {
	Session   string          `json:"session,omitempty"`
	Message   string          `json:"message,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Call      CallID          `json:"call"`
	Tool      string          `json:"tool"`
	Digest    string          `json:"digest,omitempty"` // of the definition
	Origin    Origin          `json:"origin"`
	Repair    string          `json:"repair,omitempty"`
	Validated bool            `json:"validated"`
	Args      json.RawMessage `json:"args"`
	Needs     []Need          `json:"needs,omitempty"`
	Decisions []Decision      `json:"decisions,omitempty"`
	// Status is empty in the intent record, which is written before the effect.
	Status     Status        `json:"status,omitempty"`
	Code       string        `json:"code,omitempty"`
	Faults     []Fault       `json:"faults,omitempty"`
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration_ns,omitempty"`
	OutputHash string        `json:"output_sha256,omitempty"`
	Panic      string        `json:"panic,omitempty"`
}
