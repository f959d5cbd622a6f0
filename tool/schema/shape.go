package schema

import (
	"encoding/json"
	"slices"
)

// Shapes finds a schema's rules for places in a value.
type Shapes struct {
	*document
	draft7 bool
}

// ReadShapes parses a schema.
func ReadShapes(schema json.RawMessage) (*Shapes, error) {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	return &Shapes{&document{root: root}, isDraft7(root)}, nil
}

// Top returns the rules for the whole value.
func (r *Shapes) Top() *Shape { return r.Of(r.root) }

// Shape holds the rules for a value that are certain enough for a repair.
type Shape struct {
	Node       map[string]any // the schema itself
	Types      []string       // empty means any
	Properties map[string]any
	Patterns   bool
	Required   []any
	Additional any // nil means any
	Items      any
	Prefixed   bool

	elsewhere map[string]bool // names in conditions and alternatives beside the properties
	unsure    bool            // these may mention any name
}

// Mentions reports whether a condition or an alternative mentions a property, so that dropping it
// may change the rules for others.
func (s *Shape) Mentions(name string) bool { return s.unsure || s.elsewhere[name] }

// mention records the names in a schema that applies to the same object.
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

func (s *Shape) required(names any) {
	for _, name := range list(names) {
		if name, ok := name.(string); ok {
			s.elsewhere[name] = true
		}
	}
}

// Closed reports whether an unlisted property is a fault.
func (s *Shape) Closed() bool { return s.Additional == false && !s.Patterns }

// Takes reports whether a value of this type is allowed.
func (s *Shape) Takes(kind string) bool {
	return len(s.Types) == 0 || slices.Contains(s.Types, kind) || kind == "integer" && slices.Contains(s.Types, "number")
}

// Wants reports whether the schema lists its types, including this one.
func (s *Shape) Wants(kind string) bool { return len(s.Types) > 0 && s.Takes(kind) }

const maxHops = 20

// Of follows plain references and choices with one form beside null. Other combinations have no
// certain shape.
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

// through finds the only schema behind another.
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

// onlyNotes reports whether only annotations accompany a keyword.
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
