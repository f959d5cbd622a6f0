package wire

import (
	"encoding/json"
	"reflect"
	"slices"
)

// IsStrict reports whether a schema has the strict form already, and says the same in it.
func IsStrict(schema json.RawMessage) bool {
	strict, fits := Strict(schema)
	var was, is any
	return fits && json.Unmarshal(schema, &was) == nil && json.Unmarshal(strict, &is) == nil && reflect.DeepEqual(was, is)
}

// Strict puts a schema into the form that OpenAI demands of a strict function (guide to structured
// outputs): in every object all properties are required and no others are allowed; what was
// optional may be null. It returns the schema as it was, and false, when that cannot be said, or a
// keyword is among it that the form does not know; the request would be refused.
//
// The canonical schema still validates what the model sends: a null for an optional property is
// dropped there.
func Strict(schema json.RawMessage) (json.RawMessage, bool) {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root["type"] != "object" || root["anyOf"] != nil {
		return schema, false
	}
	if !strictNode(root, 0) {
		return schema, false
	}
	return JSON(root), true
}

// strictWords are the keywords of the form, beside those that strictNode looks into.
func strictWords() []string {
	return []string{
		"type", "description", "title", "enum", "const", "required", "additionalProperties", "$ref", "pattern", "format",
		"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minItems", "maxItems",
	}
}

// strictDepth is how deep objects may lie in one another.
const strictDepth = 10

// strictNode changes a schema in place; if false, it cannot be put so.
func strictNode(s map[string]any, depth int) bool {
	if depth > strictDepth {
		return false
	}
	for key, v := range s {
		switch key {
		case "properties", "$defs":
			if !strictEach(v, depth) {
				return false
			}
		case "items":
			inner, ok := v.(map[string]any)
			if !ok || !strictNode(inner, depth+1) {
				return false
			}
		case "anyOf":
			list, _ := v.([]any)
			for _, one := range list {
				inner, ok := one.(map[string]any)
				if !ok || !strictNode(inner, depth+1) {
					return false
				}
			}
		default:
			if !slices.Contains(strictWords(), key) {
				return false
			}
		}
	}
	return strictKind(s)
}

func strictEach(v any, depth int) bool {
	named, ok := v.(map[string]any)
	for _, one := range named {
		inner, isSchema := one.(map[string]any)
		if !isSchema || !strictNode(inner, depth+1) {
			return false
		}
	}
	return ok
}

// strictKind closes an object; a schema without any kind says nothing, which the form does not
// know.
func strictKind(s map[string]any) bool {
	if s["type"] == nil && s["anyOf"] == nil && s["$ref"] == nil && s["enum"] == nil && s["const"] == nil {
		return false
	}
	if s["type"] != "object" {
		return s["properties"] == nil
	}
	if open, said := s["additionalProperties"]; said && open != false {
		return false // a map of free names
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	names := []any{}
	for name, p := range properties {
		names = append(names, name)
		if !slices.Contains(required, any(name)) && !nullable(properties, name, p.(map[string]any)) {
			return false
		}
	}
	slices.SortFunc(names, func(a, b any) int {
		if a.(string) < b.(string) {
			return -1
		}
		return 1
	})
	s["properties"], s["required"], s["additionalProperties"] = properties, names, false
	if properties == nil {
		s["properties"] = map[string]any{}
	}
	return true
}

// nullable lets a property be null.
func nullable(properties map[string]any, name string, p map[string]any) bool {
	switch kind := p["type"].(type) {
	case string:
		if kind != "null" {
			p["type"] = []any{kind, "null"}
		}
	case []any:
		if !slices.Contains(kind, any("null")) {
			p["type"] = append(kind, "null")
		}
	default:
		about := p["description"]
		delete(p, "description")
		if list, ok := p["anyOf"].([]any); ok && len(p) == 1 {
			p["anyOf"] = append(list, map[string]any{"type": "null"})
		} else {
			p = map[string]any{"anyOf": []any{p, map[string]any{"type": "null"}}}
		}
		if about != nil {
			p["description"] = about
		}
		properties[name] = p
		return true
	}
	if list, ok := p["enum"].([]any); ok && !slices.Contains(list, nil) {
		p["enum"] = append(list, nil)
	}
	if _, fixed := p["const"]; fixed {
		return false
	}
	return true
}
