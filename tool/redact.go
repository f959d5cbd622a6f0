package tool

import (
	"encoding/json"
	"slices"
)

// Redaction is the mandatory allowlist of top-level fields, of arguments and of metadata, that may
// leave for log and audit. Its zero value is undeclared, and a tool with it does not register. It
// does not govern Needs: what a call touches is what was decided on, and is declared loggable by
// being a Need.
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
