package tool

import (
	"encoding/json"
	"slices"
)

// Redaction is the mandatory allowlist for the top-level fields of arguments and metadata in log
// and audit. A tool with the zero value, which is undeclared, does not register. Needs are not
// redacted: they are the subject of decisions and always loggable.
type Redaction struct {
	declared bool
	fields   []string
}

// Expose allows fields to be logged; Expose() allows none.
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
