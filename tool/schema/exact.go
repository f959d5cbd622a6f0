package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// exact returns a schema for the library as it is understood here: only the last of duplicate
// names, and no keyword in another case. The library decodes into structs, where encoding/json
// takes "$reF" for "$ref" and merges duplicates; an unchecked reference could then recurse until
// the process dies.
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

// dropCased removes keywords in another case, which mean nothing (JSON Schema core §4.3.1), from a
// schema or a schema list.
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
		if patterns, is := n["patternProperties"].(map[string]any); is {
			n["patternProperties"] = readNames(patterns)
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

// cased reports whether a name is a keyword in another case, as encoding/json folds it.
func cased(name string) bool {
	return !slices.Contains(keywords(), name) && slices.ContainsFunc(keywords(), func(k string) bool { return strings.EqualFold(k, name) })
}

// keywords returns the keywords in draft 2020-12 and draft 7.
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
