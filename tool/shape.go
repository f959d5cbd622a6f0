package tool

import (
	"encoding/json"
	"slices"
)

// shapes reads what a schema says of the places in a value.
type shapes struct {
	root   any
	draft7 bool
}

func readShapes(schema json.RawMessage) (*shapes, error) {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	return &shapes{root, isDraft7(root)}, nil
}

// top is what is said of the whole value.
func (r *shapes) top() *shape { return r.of(r.root) }

// shape is what a schema says about a value, as far as a repair can be sure of it.
type shape struct {
	types      []string // empty: any
	properties map[string]any
	patterns   bool
	required   []any
	additional any // nil: any
	items      any
	prefixed   bool
}

// closed reports whether a property that is not listed is a fault.
func (s *shape) closed() bool { return s.additional == false && !s.patterns }

func (s *shape) takes(kind string) bool {
	return len(s.types) == 0 || slices.Contains(s.types, kind) || kind == "integer" && slices.Contains(s.types, "number")
}

// wants reports whether a schema that names its types names this one.
func (s *shape) wants(kind string) bool { return len(s.types) > 0 && s.takes(kind) }

// maxHops bounds the references and alternatives between a schema and what it says.
const maxHops = 20

// shape follows plain references and choices that leave one form beside null. Anything else that combines
// schemas says nothing certain.
func (r *shapes) of(node any) *shape {
	null := false
	for range maxHops {
		schema, ok := node.(map[string]any)
		if !ok {
			return &shape{}
		}
		next, nullable, more := r.through(schema)
		null = null || nullable
		if !more {
			return shapeOf(schema, null)
		}
		node = next
	}
	return &shape{}
}

// through finds the one schema that stands behind another.
func (r *shapes) through(schema map[string]any) (next any, null, more bool) {
	if ref, ok := schema["$ref"].(string); ok && (r.draft7 || onlyNotes(schema, "$ref")) {
		target, found := lookupRef(r.root, ref)
		return target, false, found
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		forms := list(schema[keyword])
		if len(forms) == 0 || !onlyNotes(schema, keyword) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(forms), func(form any) bool {
			s, ok := form.(map[string]any)
			return ok && keyword != "allOf" && s["type"] == "null"
		})
		if len(rest) == 1 {
			return rest[0], len(rest) < len(forms), true
		}
	}
	return nil, false, false
}

// onlyNotes reports whether a keyword stands alone but for annotations.
func onlyNotes(schema map[string]any, keyword string) bool {
	for key := range schema {
		if key != keyword && !slices.Contains([]string{"title", "description", "default", "examples", "deprecated",
			"readOnly", "writeOnly", "$comment", "$schema", "$defs", "definitions"}, key) {
			return false
		}
	}
	return true
}

func shapeOf(schema map[string]any, null bool) *shape {
	s := &shape{required: list(schema["required"]), additional: schema["additionalProperties"], items: schema["items"]}
	s.properties, _ = schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	s.patterns = len(patterns) > 0
	_, listed := schema["items"].([]any)
	s.prefixed = listed || schema["prefixItems"] != nil
	switch t := schema["type"].(type) {
	case string:
		s.types = []string{t}
	case []any:
		for _, one := range t {
			name, _ := one.(string)
			s.types = append(s.types, name)
		}
	}
	if null && len(s.types) > 0 {
		s.types = append(s.types, "null")
	}
	return s
}
