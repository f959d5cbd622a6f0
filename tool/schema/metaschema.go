package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Check checks an author's schema: its references, and the value of every keyword against the
// metaschemas for draft 2020-12 and 7. It is a separate walk because compiling costs a hundred
// times as much, and hundreds of tools register at a start. The error names the place.
func Check(raw json.RawMessage) error {
	if err := localOnly(raw); err != nil {
		return err
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return err
	}
	dialect, _ := schema["$schema"].(string)
	return metaschema{older: strings.Contains(dialect, "draft-0")}.schema(schema, "")
}

// metaschema checks keyword values. Unknown keywords may have any.
type metaschema struct{ older bool } // draft 7 or before

// schema checks an object of keywords, or true or false.
func (m metaschema) schema(v any, path string) error {
	if _, yes := v.(bool); yes && path != "" {
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return wrong(path, "a schema is an object, or true or false", v)
	}
	if _, instead := object["$ref"]; instead && m.older {
		return nil // draft 7 ignores keywords beside it
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if err := m.keyword(key, object[key], path+"/"+Pointer(key)); err != nil {
			return err
		}
	}
	return nil
}

func wrong(path, want string, v any) error {
	text, _ := json.Marshal(v)
	return fmt.Errorf("schema%s: %s, not %.60s", path, want, text)
}

func (m metaschema) keyword(key string, v any, path string) error {
	switch key {
	case "type":
		return checkType(v, path)
	case "title", "description", "$comment", "format", "contentEncoding", "contentMediaType", "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor":
		return is[string](v, path, "want a string")
	case "uniqueItems", "deprecated", "readOnly", "writeOnly":
		return is[bool](v, path, "want true or false")
	case "enum", "examples":
		return is[[]any](v, path, "want a list")
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return checkNumber(key, v, path)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		if n, ok := v.(float64); !ok || n < 0 || n != math.Trunc(n) {
			return wrong(path, "want a whole number from 0 on", v)
		}
	case "pattern":
		return checkPattern(v, path)
	case "required":
		return checkNames(v, path)
	case "dependentRequired":
		return each(v, path, checkNames)
	case "properties", "$defs", "definitions", "dependentSchemas":
		return each(v, path, m.schema)
	case "dependencies":
		return each(v, path, m.dependency)
	case "patternProperties":
		return each(v, path, func(child any, path string) error {
			name := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[strings.LastIndexByte(path, '/')+1:])
			return errors.Join(checkPattern(name, path), m.schema(child, path))
		})
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return m.schemas(v, path)
	case "items":
		if _, list := v.([]any); list && m.older {
			return m.schemas(v, path)
		}
		return m.schema(v, path)
	case "additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties", "propertyNames", "contains", "not", "if", "then", "else", "contentSchema":
		return m.schema(v, path)
	}
	return nil
}

// is checks a value's Go type.
func is[T any](v any, path, want string) error {
	if _, ok := v.(T); !ok {
		return wrong(path, want, v)
	}
	return nil
}

func checkType(v any, path string) error {
	list, many := v.([]any)
	if !many {
		list = []any{v}
	}
	for i, name := range list {
		text, _ := name.(string)
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object", "null"}, text) {
			return wrong(path, "there are the types string, number, integer, boolean, array, object and null", name)
		}
		if slices.Contains(list[:i], name) {
			return wrong(path, "a type stands twice", v)
		}
	}
	if len(list) == 0 {
		return wrong(path, "want at least one type", v)
	}
	return nil
}

func checkNumber(key string, v any, path string) error {
	n, ok := v.(float64)
	switch {
	case !ok && strings.HasPrefix(key, "exclusive"):
		return wrong(path, "want a number (true and false were for draft 4; put the bound itself here)", v)
	case !ok:
		return wrong(path, "want a number", v)
	case key == "multipleOf" && n <= 0:
		return wrong(path, "want a number above 0", v)
	}
	return nil
}

func checkPattern(v any, path string) error {
	text, ok := v.(string)
	if !ok {
		return wrong(path, "want a regular expression", v)
	}
	if _, err := readPattern(text); err != nil {
		return fmt.Errorf("schema%s: the pattern cannot be read: %w", path, err)
	}
	return nil
}

func checkNames(v any, path string) error {
	list, ok := v.([]any)
	if !ok {
		return wrong(path, "want a list of names", v)
	}
	for i, name := range list {
		if err := is[string](name, path, "want a list of names"); err != nil {
			return err
		}
		if slices.Contains(list[:i], name) {
			return wrong(path, "a name stands twice", v)
		}
	}
	return nil
}

// each checks the values in an object with free names.
func each(v any, path string, judge func(v any, path string) error) error {
	object, ok := v.(map[string]any)
	if !ok {
		return wrong(path, "want an object", v)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if err := judge(object[name], path+"/"+Pointer(name)); err != nil {
			return err
		}
	}
	return nil
}

func (m metaschema) schemas(v any, path string) error {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return wrong(path, "want a list of at least one schema", v)
	}
	for i, child := range list {
		if err := m.schema(child, fmt.Sprintf("%s/%d", path, i)); err != nil {
			return err
		}
	}
	return nil
}

// dependency checks a draft 7 dependency: a schema, or names.
func (m metaschema) dependency(v any, path string) error {
	if _, names := v.([]any); names {
		return checkNames(v, path)
	}
	return m.schema(v, path)
}
