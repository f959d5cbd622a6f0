package schema

import (
	"encoding/json"
	"slices"
)

// Shapes reads what a schema says of the places in a value.
type Shapes struct {
	*document
	draft7 bool
}

// ReadShapes takes a schema.
func ReadShapes(schema json.RawMessage) (*Shapes, error) {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	return &Shapes{&document{root: root}, isDraft7(root)}, nil
}

// Top is what is said of the whole value.
func (r *Shapes) Top() *Shape { return r.Of(r.root) }

// Shape is what a schema says about a value, as far as a repair can be sure of it.
type Shape struct {
	Node       map[string]any // the schema itself
	Types      []string       // if empty, any
	Properties map[string]any
	Patterns   bool
	Required   []any
	Additional any // if nil, any
	Items      any
	Prefixed   bool

	elsewhere map[string]bool // names that conditions and alternatives beside the properties speak of
	unsure    bool            // they may speak of any name
}

// Mentions reports whether a condition or an alternative of the schema speaks of a property, so
// that leaving it out may change what the schema says of the others.
func (s *Shape) Mentions(name string) bool { return s.unsure || s.elsewhere[name] }

// mention notes the names that a schema which applies to the same object speaks of.
func (s *Shape) mention(schema map[string]any, depth int) {
	if depth > maxHops {
		s.unsure = true
		return
	}
	for key, child := range schema {
		switch {
		case refKeyword(key), key == "patternProperties" && depth > 0, key == "propertyNames" && depth > 0:
			s.unsure = true
		case key == "properties" && depth > 0, key == "dependentRequired", key == "dependentSchemas", key == "dependencies":
			named, _ := child.(map[string]any)
			for name, rule := range named {
				s.elsewhere[name] = true
				if key != "properties" {
					s.required(rule)
					s.mentionAll([]any{rule}, depth)
				}
			}
		case key == "required":
			s.required(child)
		case inPlaceKeyword(key):
			s.mentionAll(append(list(child), child), depth)
		}
	}
}

func (s *Shape) mentionAll(nodes []any, depth int) {
	for _, node := range nodes {
		if schema, ok := node.(map[string]any); ok {
			s.mention(schema, depth+1)
		}
	}
}

// required notes the names of a list.
func (s *Shape) required(names any) {
	for _, name := range list(names) {
		if name, ok := name.(string); ok {
			s.elsewhere[name] = true
		}
	}
}

// Closed reports whether a property that is not listed is a fault.
func (s *Shape) Closed() bool { return s.Additional == false && !s.Patterns }

// Takes reports whether a value of this type is no fault.
func (s *Shape) Takes(kind string) bool {
	return len(s.Types) == 0 || slices.Contains(s.Types, kind) || kind == "integer" && slices.Contains(s.Types, "number")
}

// Wants reports whether a schema that names its types names this one.
func (s *Shape) Wants(kind string) bool { return len(s.Types) > 0 && s.Takes(kind) }

// maxHops bounds the references and alternatives between a schema and what it says.
const maxHops = 20

// Of follows plain references and choices that leave one form beside null. Anything else that
// combines schemas says nothing certain.
func (r *Shapes) Of(node any) *Shape {
	null := false
	for range maxHops {
		schema, ok := node.(map[string]any)
		if !ok {
			return &Shape{}
		}
		next, nullable, more := r.through(schema)
		null = null || nullable
		if !more {
			return shapeOf(schema, null)
		}
		node = next
	}
	return &Shape{}
}

// through finds the one schema that stands behind another.
func (r *Shapes) through(schema map[string]any) (next any, null, more bool) {
	if ref, ok := schema["$ref"].(string); ok && (r.draft7 || onlyNotes(schema, "$ref")) {
		target, found := r.target(ref)
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

func shapeOf(schema map[string]any, null bool) *Shape {
	s := &Shape{Node: schema, Required: list(schema["required"]), Additional: schema["additionalProperties"], Items: schema["items"], elsewhere: map[string]bool{}}
	s.mention(schema, 0)
	s.Properties, _ = schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	s.Patterns = len(patterns) > 0
	_, listed := schema["items"].([]any)
	s.Prefixed = listed || schema["prefixItems"] != nil
	switch t := schema["type"].(type) {
	case string:
		s.Types = []string{t}
	case []any:
		for _, one := range t {
			name, _ := one.(string)
			s.Types = append(s.Types, name)
		}
	}
	if null && len(s.Types) > 0 {
		s.Types = append(s.Types, "null")
	}
	return s
}
