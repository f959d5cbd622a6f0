package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// localOnly accepts a JSON object whose references all have a target inside it, without cycles that
// never reach a smaller value.
func localOnly(raw json.RawMessage) error {
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("schema is not a JSON object: %w", err)
	}
	if schema == nil {
		return errors.New("schema is not a JSON object: it is null")
	}
	r := refs{document: &document{root: schema}, state: map[uintptr]visit{}}
	return r.node(schema, "")
}

// Keywords with data as values, keywords with names as keys, and keywords that apply schemas to the
// same value.
func dataKeyword(key string) bool {
	return slices.Contains([]string{"const", "enum", "default", "examples", "required", "dependentRequired"}, key)
}

func nameKeyword(key string) bool {
	return slices.Contains([]string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}, key)
}

func inPlaceKeyword(key string) bool {
	return slices.Contains([]string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}, key)
}

func refKeyword(key string) bool {
	return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef"
}

// refs walks a schema and checks its references.
type refs struct {
	*document
	state map[uintptr]visit // by map identity: the progress of loops
}

// node checks a schema, or schemas in a list or map, and everything inside.
func (r *refs) node(node any, path string) error {
	switch n := node.(type) {
	case []any:
		for i, child := range n {
			if err := r.node(child, path+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if id, ok := n["$id"].(string); ok && path != "" && !strings.HasPrefix(id, "#") {
			return fmt.Errorf("schema%s: an embedded resource ($id) is not supported; move it into $defs and drop its $id", path)
		}
		if err := r.loops(n); err != nil {
			return fmt.Errorf("schema%s: %w", path, err)
		}
		for _, key := range slices.Sorted(maps.Keys(n)) {
			if err := r.keyword(key, n[key], path+"/"+Pointer(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *refs) keyword(key string, child any, path string) error {
	if dataKeyword(key) {
		return nil
	}
	if refKeyword(key) {
		ref, ok := child.(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return fmt.Errorf("schema%s: reference %v is not local; copy it into $defs and refer to #/$defs/NAME", path, child)
		}
		if _, found := r.target(ref); !found {
			return fmt.Errorf("schema%s: reference %s leads nowhere", path, ref)
		}
		return nil
	}
	if names, ok := child.(map[string]any); ok && nameKeyword(key) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if err := r.node(names[name], path+"/"+Pointer(name)); err != nil {
				return err
			}
		}
		return nil
	}
	return r.node(child, path)
}

type visit int

const (
	unseen visit = iota
	open
	closed
)

// loops follows schemas that apply to the same value. A cycle would overflow a validator's stack,
// which kills the process.
func (r *refs) loops(schema map[string]any) error {
	id := reflect.ValueOf(schema).Pointer()
	switch r.state[id] {
	case closed:
		return nil
	case open:
		return errors.New("its references go in a circle without reaching into the value")
	}
	r.state[id] = open
	defer func() { r.state[id] = closed }()
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		for _, next := range r.inPlace(key, schema[key]) {
			if err := r.loops(next); err != nil {
				return err
			}
		}
	}
	return nil
}

// inPlace lists the schemas that a keyword applies to the same value.
func (r *refs) inPlace(key string, child any) []map[string]any {
	var nodes []any
	switch c := child.(type) {
	case string:
		if refKeyword(key) {
			target, _ := r.target(c) // a missing target is reported elsewhere
			nodes = []any{target}
		}
	case []any:
		if inPlaceKeyword(key) {
			nodes = c
		}
	case map[string]any:
		switch {
		case inPlaceKeyword(key) && nameKeyword(key):
			nodes = slices.Collect(maps.Values(c))
		case inPlaceKeyword(key):
			nodes = []any{c}
		}
	}
	var schemas []map[string]any
	for _, n := range nodes {
		if schema, ok := n.(map[string]any); ok {
			schemas = append(schemas, schema)
		}
	}
	return schemas
}
