package schema

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Compile makes a check of a schema: it returns every fault, by path; none means valid.
// The library reports only its first error, and quotes the value in it, so on failure, the rare
// path, the schema is walked again to find and name them all.
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
