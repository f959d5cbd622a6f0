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

// localOnly accepts a JSON object whose references all lead somewhere inside it, and none in a
// circle that would never get to a smaller value.
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

// Keywords whose values are data, keywords whose keys are names, and keywords that apply their
// schemas to the very value that is being judged.
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

// refs walks a schema and judges its references.
type refs struct {
	*document
	state map[uintptr]visit // by identity of the map: what loops knows of a schema
}

// node judges a schema, or a list or table of schemas, and everything in it.
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

// visit is how far loops came with a schema.
type visit int

const (
	unseen visit = iota
	open
	closed
)

// loops follows what applies to the same value. A validator would follow a circle of those until
// its stack ends, which kills the whole process.
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
			target, _ := r.target(c) // one that leads nowhere is refused where it stands
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
