package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"adze/session"
	"adze/tool"
)

// schemas caches tools with portable schemas, by the digest of their list. A portable schema stays
// byte for byte. Changes lose only hints: the tool's own schema validates the arguments.
type schemas struct {
	mu    sync.Mutex
	cache map[string]fittedTools
}

// fittedTools holds tools as sent.
type fittedTools struct {
	tools   []tool.Definition
	changed bool
}

// fit returns a request with tools that the model accepts, and their digest.
func (s *schemas) fit(r session.Request, f *fit) session.Request {
	if len(r.Tools) == 0 {
		return r
	}
	digest := r.ToolsDigest
	if f.Quirks[simple] || len(f.Lacks) > 0 {
		digest += "/" + strconv.FormatBool(f.Quirks[simple]) + "/" + strings.Join(slices.Sorted(maps.Keys(f.Lacks)), ",")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.cache[digest]
	if !ok || r.ToolsDigest == "" {
		known = fitTools(r.Tools, f)
		if s.cache == nil || len(s.cache) > 16 {
			s.cache = map[string]fittedTools{}
		}
		s.cache[digest] = known
	}
	if known.changed {
		r.Tools = known.tools
		if r.ToolsDigest != "" {
			r.ToolsDigest = digest + "/fit"
		}
	}
	return r
}

func fitTools(tools []tool.Definition, f *fit) (out fittedTools) {
	for _, d := range tools {
		if len(f.Lacks) > 0 && f.Lacks[toolKey(d)] != "" {
			out.changed = true
			continue
		}
		if schema, changed := fitSchema(d.Offered(), f.Quirks[simple]); changed {
			d.Parameters, d.ProviderSchema, out.changed = schema, nil, true
		}
		out.tools = append(out.tools, d)
	}
	return out
}

const maxSchemaDepth = 24

// fitSchema converts a schema to the portable form: an object at the top without alternatives,
// lists with items, and properties only on objects. simple keeps only the types.
func fitSchema(schema json.RawMessage, simple bool) (fitted json.RawMessage, changed bool) {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root == nil {
		root = map[string]any{}
	}
	s := fitter{root: root, simple: simple}
	s.top(root)
	s.node(root, 0)
	if !s.changed {
		return schema, false
	}
	return JSON(root), true
}

// SimpleSchema converts a schema to the portable form with types only.
func SimpleSchema(schema json.RawMessage) json.RawMessage {
	simple, _ := fitSchema(schema, true)
	return simple
}

type fitter struct {
	root    map[string]any
	simple  bool
	changed bool
}

// set sets a schema's key; nil deletes it.
func (s *fitter) set(n map[string]any, key string, value any) {
	s.changed = true
	if n[key] = value; value == nil {
		delete(n, key)
	}
}

// top turns a schema's top level into an object. It merges the properties of alternatives: only the
// tool itself checks their combinations.
func (s *fitter) top(root map[string]any) {
	if ref, ok := root["$ref"].(string); ok {
		s.set(root, "$ref", nil)
		for key, v := range s.find(ref) {
			if root[key] == nil {
				root[key] = v
			}
		}
	}
	properties, ok := root["properties"].(map[string]any)
	if !ok {
		properties = map[string]any{}
		s.set(root, "properties", properties)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, ok := root[key].([]any)
		if !ok {
			continue
		}
		s.set(root, key, nil)
		for _, v := range list {
			branch, _ := v.(map[string]any)
			if ref, ok := branch["$ref"].(string); ok {
				branch = s.find(ref)
			}
			more, _ := branch["properties"].(map[string]any)
			for name, v := range more {
				if properties[name] == nil {
					properties[name] = v
				}
			}
			if required, ok := branch["required"].([]any); ok && key == "allOf" {
				had, _ := root["required"].([]any)
				root["required"] = append(had, required...)
			}
		}
	}
	if root["type"] != "object" {
		s.set(root, "type", "object")
	}
}

// find resolves a reference of the form #/$defs/Name, or returns nil.
func (s *fitter) find(ref string) map[string]any {
	var at any = s.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		in, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	out, _ := at.(map[string]any)
	return out
}

// node changes one schema in place.
func (s *fitter) node(n map[string]any, depth int) {
	if depth > maxSchemaDepth {
		return
	}
	for key := range n {
		if s.simple && !slices.Contains([]string{"type", "properties", "required", "items", "description", "enum"}, key) {
			s.set(n, key, nil)
		}
	}
	s.kinds(n)
	if properties, ok := n["properties"].(map[string]any); ok {
		s.properties(n, properties, depth)
	}
	s.each(n["items"], depth)
	for _, key := range []string{"additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"} {
		s.each(n[key], depth)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := n[key].([]any)
		for _, v := range list {
			s.each(v, depth)
		}
	}
	for _, key := range []string{"$defs", "definitions", "dependentSchemas", "patternProperties"} {
		named, _ := n[key].(map[string]any)
		for _, v := range named {
			s.each(v, depth)
		}
	}
}

func (s *fitter) each(v any, depth int) {
	if inner, ok := v.(map[string]any); ok {
		s.node(inner, depth+1)
	}
}

// kinds removes keywords of objects and lists from other types, and adds missing items to lists.
func (s *fitter) kinds(n map[string]any) {
	is := func(kind string) bool {
		list, _ := n["type"].([]any)
		return n["type"] == nil || n["type"] == kind || slices.Contains(list, any(kind))
	}
	for kind, keys := range map[string][]string{"object": {"properties", "required", "additionalProperties"}, "array": {"items", "prefixItems"}} {
		for _, key := range keys {
			if _, there := n[key]; there && !is(kind) {
				s.set(n, key, nil)
			}
		}
	}
	if n["properties"] != nil && n["type"] == nil {
		s.set(n, "type", "object")
	}
	if list, ok := n["items"].([]any); ok {
		s.set(n, "items", map[string]any{"anyOf": list})
	}
	if _, ok := n["items"].(map[string]any); !ok && n["type"] != nil && is("array") && (n["items"] != nil || n["prefixItems"] == nil) {
		s.set(n, "items", map[string]any{})
	}
}

// properties visits each property, and drops missing ones from required.
func (s *fitter) properties(n, properties map[string]any, depth int) {
	for name, v := range properties {
		if _, ok := v.(map[string]any); !ok {
			s.set(properties, name, map[string]any{})
		}
		s.each(properties[name], depth)
	}
	required, ok := n["required"].([]any)
	if !ok && n["required"] != nil { // draft 3 sets it on each property
		s.set(n, "required", nil)
	}
	kept := slices.DeleteFunc(slices.Clone(required), func(v any) bool {
		name, _ := v.(string)
		return properties[name] == nil
	})
	if len(kept) != len(required) {
		s.set(n, "required", kept)
	}
}
