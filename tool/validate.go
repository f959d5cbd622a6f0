package tool

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Validator compiles a schema. Contract: Compile may be slow, the Check it returns is fast, pure and safe
// for concurrent use; references outside the schema are never followed; a fault repeats no value.
type Validator interface {
	Name() string
	Version() string
	Compile(schema json.RawMessage) (Check, error)
}

// Check validates a decoded JSON value and returns every fault, in document order of the pointers; none
// means valid.
type Check func(value any) []Fault

// compiled is a Check with where it came from.
type compiled struct {
	check Check
	info  ValidatorInfo
}

// JSONSchema is the default Validator: drafts 2020-12 and 7 by github.com/google/jsonschema-go, with all
// errors instead of the first.
type JSONSchema struct{}

// Name of the validator, for provenance.
func (JSONSchema) Name() string { return "jsonschema-go" }

// Version of the library, for provenance.
func (JSONSchema) Version() string { return "0.4.3" }

// Compile resolves the schema once. The library reports only its first error, and quotes the value in
// it, so on failure, the rare path, the schema is walked again to find and name them all.
func (JSONSchema) Compile(schema json.RawMessage) (Check, error) {
	if err := localSchema(schema); err != nil {
		return nil, err
	}
	resolved, err := resolve(schema)
	if err != nil {
		return nil, err
	}
	return func(value any) []Fault {
		err := resolved.Validate(value)
		if err == nil {
			return nil
		}
		return explain(schema, value, err)
	}, nil
}

func resolve(schema json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("decode schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve schema: %w", err)
	}
	return resolved, nil
}
