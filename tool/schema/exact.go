package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// exact is a schema as it is judged here, so that the library gets nothing else: each name of an
// object once, the last, and no keyword in other letters. The library decodes into structs, where
// encoding/json takes "$reF" for "$ref" and adds the second of two equal names to the first; a
// reference that nobody has looked at then leads in a circle until the process dies.
func exact(raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("schema is not a JSON object: %w", err)
	}
	if _, is := root.(map[string]any); !is {
		return nil, errors.New("schema is not a JSON object")
	}
	dropCased(root)
	return json.Marshal(root)
}

// dropCased takes away keywords in other letters, which mean nothing (JSON Schema core §4.3.1),
// below a schema or a list of them.
func dropCased(node any) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			dropCased(child)
		}
	case map[string]any:
		if parts, err := readPattern(fmt.Sprint(n["pattern"])); err == nil && parts != nil {
			delete(n, "pattern")
			n["allOf"] = append(list(n["allOf"]), parts...)
		}
		for key, child := range n {
			names, is := child.(map[string]any)
			switch {
			case cased(key):
				delete(n, key)
			case dataKeyword(key):
			case is && nameKeyword(key):
				for _, named := range names {
					dropCased(named)
				}
			default:
				dropCased(child)
			}
		}
	}
}

// cased reports a name that is a keyword but for the case of its letters, as encoding/json folds
// them.
func cased(name string) bool {
	return !slices.Contains(keywords(), name) && slices.ContainsFunc(keywords(), func(k string) bool { return strings.EqualFold(k, name) })
}

// keywords are those of draft 2020-12 and draft 7.
func keywords() []string {
	return []string{
		"$id", "$schema", "$ref", "$comment", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$vocabulary",
		"title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "type", "enum", "const", "multipleOf",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "items", "prefixItems", "additionalItems",
		"minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems", "minProperties", "maxProperties", "required",
		"dependentRequired", "dependencies", "properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties",
		"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contentEncoding", "contentMediaType", "contentSchema", "format",
	}
}
