package schema

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Compile returns a check that lists all faults in a value by path; none means valid. The library
// reports only its first error and quotes the value in it, so after a failure the schema is walked
// again to find all faults.
func Compile(schema json.RawMessage) (func(value any) []Fault, error) {
	schema, err := exact(schema)
	if err != nil {
		return nil, err
	}
	if err := localOnly(schema); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("decode schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve schema: %w", err)
	}
	return func(value any) []Fault {
		if resolved.Validate(value) == nil {
			return nil
		}
		return explain(schema, value)
	}, nil
}
