package gemini

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/llm/wire"
)

// maxDepth bounds a schema that is written out: a reference to itself ends there.
const maxDepth = 12

// kept are the keywords of the API's Schema that pass as they are (API reference, Schema). Format,
// enum, type and everything with schemas inside is translated.
func kept() []string {
	return []string{
		"title", "description", "nullable", "default", "example", "minItems", "maxItems", "minProperties",
		"maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum", "propertyOrdering",
	}
}

// node is a schema or a part of one.
type node = map[string]any

// subset translates a JSON Schema into the API's Schema; nothing for a function without parameters.
// The canonical schema still validates what the model sends, so what is lost here is only advice.
func subset(schema json.RawMessage) json.RawMessage {
	root, ok := ordered(schema)
	if !ok {
		return nil
	}
	out := translator{root}.schema(root, 0)
	if properties, ok := out["properties"].(node); !ok || len(properties) == 0 {
		return nil
	}
	return wire.JSON(out)
}

// translator knows the whole schema, for references into it.
type translator struct{ root node }

func (t translator) schema(value any, depth int) node {
	in, ok := value.(node)
	if !ok || depth > maxDepth {
		return node{"type": "string"} // true, which allows anything, and what refers to itself
	}
	in = t.flat(in, 0)
	out := node{}
	for _, key := range kept() {
		if v, ok := in[key]; ok {
			out[key] = v
		}
	}
	t.kind(in, out)
	t.children(in, out, depth)
	values(in, out)
	format(in, out)
	return out
}

// flat resolves a reference and takes the parts of allOf together.
func (t translator) flat(in node, depth int) node {
	if depth > maxDepth {
		return node{}
	}
	parts, _ := in["allOf"].([]any)
	if ref, ok := in["$ref"].(string); ok {
		parts = append([]any{t.find(ref)}, parts...)
	}
	if len(parts) == 0 {
		return in
	}
	out := maps.Clone(in)
	delete(out, "allOf")
	delete(out, "$ref")
	for _, p := range parts {
		if inner, ok := p.(node); ok {
			add(out, t.flat(inner, depth+1))
		}
	}
	return out
}

// add takes what out does not say itself; properties and required add up.
func add(out, more node) {
	for key, v := range more {
		switch has := out[key].(type) {
		case nil:
			out[key] = v
		case node:
			if inner, ok := v.(node); ok && key == "properties" {
				both := maps.Clone(inner)
				maps.Copy(both, has)
				out[key] = both
			}
		case []any:
			if inner, ok := v.([]any); ok && key == "required" {
				out[key] = slices.Concat(has, inner)
			}
		}
	}
}

// find follows a reference of the form #/$defs/Name.
func (t translator) find(ref string) any {
	var at any = t.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		in, ok := at.(node)
		if !ok {
			return nil
		}
		at = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return at
}

// kind sets type: one name, and nullable where null was among several.
func (t translator) kind(in, out node) {
	var names []string
	switch v := in["type"].(type) {
	case string:
		names = []string{v}
	case []any:
		for _, n := range v {
			if s, ok := n.(string); ok {
				names = append(names, s)
			}
		}
	}
	if i := slices.Index(names, "null"); i >= 0 && len(names) > 1 {
		names = slices.Delete(names, i, i+1)
		out["nullable"] = true
	}
	_, union := firstOf(in, "anyOf", "oneOf")
	switch {
	case len(names) == 1:
		out["type"] = names[0]
	case len(names) > 1:
		var each []any
		for _, n := range names {
			each = append(each, typed(n))
		}
		out["anyOf"] = each
	case union:
	case in["properties"] != nil:
		out["type"] = "object"
	case in["items"] != nil:
		out["type"] = "array"
	default:
		out["type"] = "string"
	}
}

// typed is the smallest schema of a type.
func typed(name string) node {
	if name == "array" {
		return node{"type": name, "items": node{"type": "string"}}
	}
	return node{"type": name}
}

func firstOf(in node, keys ...string) ([]any, bool) {
	for _, key := range keys {
		if list, ok := in[key].([]any); ok && len(list) > 0 {
			return list, true
		}
	}
	return nil, false
}

// children translates the schemas inside.
func (t translator) children(in, out node, depth int) {
	if properties, ok := in["properties"].(node); ok && len(properties) > 0 {
		list := node{}
		for name, p := range properties {
			if name != orderKey {
				list[name] = t.schema(p, depth+1)
			}
		}
		if len(list) > 0 {
			out["properties"] = list
		}
		if order := orderOf(properties, list); len(order) > 1 && out["propertyOrdering"] == nil {
			out["propertyOrdering"] = order
		}
		if required := known(in["required"], list); len(required) > 0 {
			out["required"] = required
		}
	}
	if out["type"] == "array" {
		out["items"] = t.items(in, depth)
	}
	if list, ok := firstOf(in, "anyOf", "oneOf"); ok {
		t.union(list, out, depth)
	}
}

// items is the one schema of a list's elements, which the API demands.
func (t translator) items(in node, depth int) node {
	if list, ok := firstOf(in, "items", "prefixItems"); ok {
		out := node{}
		t.union(list, out, depth)
		return out
	}
	return t.schema(in["items"], depth+1)
}

// union makes anyOf; null among the choices makes the value nullable.
func (t translator) union(list []any, out node, depth int) {
	var each []any
	for _, choice := range list {
		if c, ok := choice.(node); ok && c["type"] == "null" {
			out["nullable"] = true
			continue
		}
		each = append(each, t.schema(choice, depth+1))
	}
	if len(each) == 1 {
		add(out, each[0].(node))
		return
	}
	out["anyOf"] = each
}

// known are the required names that exist: the API refuses others.
func known(value any, properties node) []any {
	var out []any
	list, _ := value.([]any)
	for _, name := range list {
		if s, ok := name.(string); ok && properties[s] != nil && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// values sets enum, which the API has for strings alone; others are told in words.
func values(in, out node) {
	list, _ := in["enum"].([]any)
	if v, ok := in["const"]; ok {
		list = []any{v}
	}
	var texts, words []any
	for _, v := range list {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
		if v != nil {
			words = append(words, string(wire.JSON(v)))
		}
	}
	switch {
	case len(words) == 0:
	case len(texts) == len(words) && (out["type"] == "string" || in["type"] == nil):
		out["type"], out["enum"] = "string", texts
	default:
		about, _ := out["description"].(string)
		out["description"] = strings.TrimSpace(about + " One of: " + strings.Trim(fmt.Sprint(words), "[]") + ".")
	}
}

// format passes the formats that the API knows for a type; it refuses others.
func format(in, out node) {
	known := map[any][]string{
		"string": {"enum", "date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"},
	}
	if f, ok := in["format"].(string); ok && slices.Contains(known[out["type"]], f) {
		out["format"] = f
	}
}
