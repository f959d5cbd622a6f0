package tool

import (
	"encoding/json"

	"adze/tool/schema"
)

// Validator compiles a schema. Contract: Compile may be slow, the returned Check is fast, pure and
// safe for concurrent use; external references are never followed; a fault repeats no value.
type Validator interface {
	Name() string
	Version() string
	Compile(schema json.RawMessage) (Check, error)
}

// Check validates a decoded JSON value and returns all faults by pointer in document order; none
// means valid.
type Check func(value any) []Fault

// compiledCheck is a Check with its origin.
type compiledCheck struct {
	check Check
	info  ValidatorInfo
}

// JSONSchema is the default Validator: drafts 2020-12 and 7 by github.com/google/jsonschema-go,
// with all errors instead of the first.
type JSONSchema struct{}

// Name returns the validator's name, for provenance.
func (JSONSchema) Name() string { return "jsonschema-go" }

// Version returns the library's version, for provenance.
func (JSONSchema) Version() string { return "0.4.3" }

// Compile resolves the schema once.
func (JSONSchema) Compile(raw json.RawMessage) (Check, error) {
	check, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	return func(value any) []Fault {
		var faults []Fault
		for _, v := range check(value) {
			faults = append(faults, schemaFault(v.Path, v.Message))
		}
		return faults
	}, nil
}

func schemaFault(path, message string) Fault {
	return Fault{Stage: StageValidate, Code: CodeInvalidArguments, Path: path, Message: message}
}
