package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

// The keywords of OpenAI's strict form, beside those with subschemas.
const strictWords = " type description title enum const required additionalProperties $ref pattern format" +
	" multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems "

// Nesting limit for objects.
const strictDepth = 10

// IsStrict reports whether a schema has the form that OpenAI requires of a strict function (guide
// to structured outputs): every object requires all properties and allows no others. Other schemas
// are refused.
func IsStrict(schema json.RawMessage) bool {
	var root map[string]any
	return json.Unmarshal(schema, &root) == nil && root["type"] == "object" && root["anyOf"] == nil && strictNode(root, 0)
}

func strictNode(v any, depth int) bool {
	s, ok := v.(map[string]any)
	if !ok || depth > strictDepth {
		return false
	}
	for key, v := range s {
		var inner []any
		switch named, _ := v.(map[string]any); {
		case key == "properties" || key == "$defs":
			for _, one := range named {
				inner = append(inner, one)
			}
		case key == "items":
			inner = []any{v}
		case key == "anyOf":
			inner, _ = v.([]any)
		case !strings.Contains(strictWords, " "+key+" "):
			return false
		}
		if slices.ContainsFunc(inner, func(one any) bool { return !strictNode(one, depth+1) }) {
			return false
		}
	}
	if s["type"] != "object" {
		return s["properties"] == nil && (s["type"] != nil || s["anyOf"] != nil || s["$ref"] != nil || s["enum"] != nil || s["const"] != nil)
	}
	properties, _ := s["properties"].(map[string]any)
	required, given := s["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return given && properties != nil && len(required) == len(properties) && s["additionalProperties"] == false
}
