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

// schemas are tools whose schemas every format takes, by the digest of their list. A schema that
// all servers take stays byte for byte. A change loses only advice: the tool's own schema validates
// the arguments.
type schemas struct {
	mu    sync.Mutex
	known map[string]fittedTools
}

// fittedTools are tools as they are sent. Names are the real names of arguments that are sent by
// others, by tool and by what is sent.
type fittedTools struct {
	tools   []tool.Definition
	changed bool
	names   map[string]map[string]string
}

// fit is a request with tools as a model takes them.
func (s *schemas) fit(r session.Request, f *fit) (session.Request, map[string]map[string]string) {
	if len(r.Tools) == 0 {
		return r, nil
	}
	variant := ""
	if f.Simple || len(f.Lacks) > 0 {
		variant = "/" + strconv.FormatBool(f.Simple) + "/" + strings.Join(slices.Sorted(maps.Keys(f.Lacks)), ",")
	}
	digest := r.ToolsDigest + variant
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[digest]
	if !ok || r.ToolsDigest == "" {
		known = fitTools(r.Tools, f)
		if s.known == nil || len(s.known) > 16 {
			s.known = map[string]fittedTools{}
		}
		s.known[digest] = known
	}
	if known.changed {
		r.Tools = known.tools
		if r.ToolsDigest != "" {
			r.ToolsDigest = digest + "/fit"
		}
	}
	return r, known.names
}

func fitTools(tools []tool.Definition, f *fit) (out fittedTools) {
	for _, d := range tools {
		if len(f.Lacks) > 0 && f.Lacks[toolKey(d)] != "" {
			out.changed = true
			continue
		}
		if schema, names, changed := fitSchema(d.Offered(), f.Simple); changed {
			d.Parameters, d.ProviderSchema, out.changed = schema, nil, true
			if len(names) > 0 {
				if out.names == nil {
					out.names = map[string]map[string]string{}
				}
				out.names[d.Name] = names
			}
		}
		out.tools = append(out.tools, d)
	}
	return out
}

// maxSchemaDepth bounds how deep a schema is looked at.
const maxSchemaDepth = 24

// fitSchema puts a schema into the form that every server takes: an object at the top without
// alternatives, names of properties of at most 64 letters, digits, _, - and points, lists with
// items, and properties on objects alone. Simple leaves out all but the kinds of values. Names are
// the real ones of those that were changed.
func fitSchema(schema json.RawMessage, simple bool) (fitted json.RawMessage, names map[string]string, changed bool) {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root == nil {
		root = map[string]any{}
	}
	s := fitter{root: root, simple: simple, names: map[string]string{}, taken: map[string]bool{}}
	s.collect(root, 0)
	root = s.top(root)
	s.node(root, 0)
	if !s.changed {
		return schema, nil, false
	}
	return JSON(root), s.names, true
}

// SimpleSchema is a schema in the form that every server takes, with the kinds of values alone.
func SimpleSchema(schema json.RawMessage) json.RawMessage {
	simple, _, _ := fitSchema(schema, true)
	return simple
}

type fitter struct {
	root    map[string]any
	simple  bool
	changed bool
	names   map[string]string // real ones, by what is sent
	taken   map[string]bool   // all names of properties
}

// collect finds the names of all properties, so that no new one is like another.
func (s *fitter) collect(v any, depth int) {
	if depth > maxSchemaDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			for name := range properties {
				s.taken[name] = true
			}
		}
		for _, inner := range v {
			s.collect(inner, depth+1)
		}
	case []any:
		for _, inner := range v {
			s.collect(inner, depth+1)
		}
	}
}

// top makes an object of the top of a schema: alternatives become properties of one object.
func (s *fitter) top(root map[string]any) map[string]any {
	if ref, ok := root["$ref"].(string); ok {
		if at := s.find(ref); at != nil {
			s.changed = true
			delete(root, "$ref")
			for key, v := range at {
				if root[key] == nil {
					root[key] = v
				}
			}
		}
	}
	var oneOf []string
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, ok := root[key].([]any)
		if !ok {
			continue
		}
		s.changed = true
		delete(root, key)
		for _, v := range list {
			branch, _ := v.(map[string]any)
			if ref, isRef := branch["$ref"].(string); isRef {
				branch = s.find(ref)
			}
			if needs := s.merge(root, branch, key == "allOf"); key != "allOf" && len(needs) > 0 {
				oneOf = append(oneOf, strings.Join(needs, " and "))
			}
		}
	}
	if len(oneOf) > 1 {
		about, _ := root["description"].(string)
		root["description"] = strings.TrimSpace(about + " Give " + strings.Join(oneOf, ", or ") + ".")
	}
	if root["type"] != "object" {
		s.changed, root["type"] = true, "object"
	}
	if _, ok := root["properties"].(map[string]any); !ok {
		s.changed, root["properties"] = true, map[string]any{}
	}
	return root
}

// merge adds the properties of a branch to the top, and returns those that it needs.
func (s *fitter) merge(root, branch map[string]any, all bool) (needs []string) {
	properties, _ := root["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		root["properties"] = properties
	}
	more, _ := branch["properties"].(map[string]any)
	for name, v := range more {
		switch had, ok := properties[name]; {
		case !ok:
			properties[name] = v
		case string(JSON(had)) != string(JSON(v)):
			if either, ok := had.(map[string]any); ok && len(either) == 1 && either["anyOf"] != nil {
				either["anyOf"] = append(either["anyOf"].([]any), v)
				continue
			}
			properties[name] = map[string]any{"anyOf": []any{had, v}}
		}
	}
	required, _ := branch["required"].([]any)
	for _, name := range required {
		if text, ok := name.(string); ok {
			needs = append(needs, text)
		}
	}
	if had, _ := root["required"].([]any); all && len(required) > 0 {
		root["required"] = append(had, required...)
	}
	return needs
}

// find follows a reference of the form #/$defs/Name; if it leads to no schema, the result is nil.
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
	if s.simple {
		for key := range n {
			if !slices.Contains([]string{"type", "properties", "required", "items", "description", "enum"}, key) {
				s.changed = true
				delete(n, key)
			}
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

// kinds leaves the keywords of objects and lists on these alone, and gives lists their items.
func (s *fitter) kinds(n map[string]any) {
	is := func(kind string) bool {
		list, _ := n["type"].([]any)
		return n["type"] == nil || n["type"] == kind || slices.Contains(list, any(kind))
	}
	for kind, keys := range map[string][]string{"object": {"properties", "required", "additionalProperties"}, "array": {"items", "prefixItems"}} {
		for _, key := range keys {
			if _, there := n[key]; there && !is(kind) {
				s.changed = true
				delete(n, key)
			}
		}
	}
	if n["properties"] != nil && n["type"] == nil {
		s.changed, n["type"] = true, "object"
	}
	if list, ok := n["items"].([]any); ok {
		s.changed, n["items"] = true, map[string]any{"anyOf": list}
	}
	if _, ok := n["items"].(map[string]any); !ok && n["type"] != nil && is("array") {
		if n["items"] == nil && n["prefixItems"] != nil {
			return
		}
		s.changed, n["items"] = true, map[string]any{}
	}
}

// properties changes the names that some servers refuse, and drops required ones that are not
// there.
func (s *fitter) properties(n, properties map[string]any, depth int) {
	renamed := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if _, ok := properties[name].(map[string]any); !ok {
			s.changed, properties[name] = true, map[string]any{}
		}
		s.each(properties[name], depth)
		if sent := s.name(name); sent != name {
			s.changed, renamed[name], properties[sent] = true, sent, properties[name]
			delete(properties, name)
		}
	}
	required, ok := n["required"].([]any)
	if !ok {
		if n["required"] != nil { // a draft of long ago says it of each property
			s.changed = true
			delete(n, "required")
		}
		return
	}
	kept := []any{}
	for _, v := range required {
		name, _ := v.(string)
		if sent, ok := renamed[name]; ok {
			name = sent
		}
		if properties[name] != nil && !slices.Contains(kept, any(name)) {
			kept = append(kept, name)
		}
	}
	if len(kept) != len(required) || len(renamed) > 0 {
		s.changed, n["required"] = true, kept
	}
}

// sendable reports whether every server takes a property's name as it is: up to 64 letters, digits,
// dots, dashes and low lines.
func sendable(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool { return r != '.' && wordRune(r) != r })
}

// name is the one under which a property is sent: the same for the same name everywhere.
func (s *fitter) name(real string) string {
	if sendable(real) {
		return real
	}
	for sent, was := range s.names {
		if was == real {
			return sent
		}
	}
	clean := strings.Trim(strings.Map(func(r rune) rune {
		if r == '.' {
			return r
		}
		return wordRune(r)
	}, real), "_")
	if clean == "" {
		clean = "argument"
	}
	clean = clean[:min(len(clean), 60)]
	sent := clean
	for n := 2; s.taken[sent]; n++ {
		sent = clean + "_" + strconv.Itoa(n)
	}
	s.taken[sent], s.names[sent] = true, real
	return sent
}

// realNames gives arguments their real names back, in every object in them. Arguments that are no
// JSON object stay as the model wrote them.
func realNames(arguments string, names map[string]string) string {
	if len(names) == 0 {
		return arguments
	}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil || d.More() {
		return arguments
	}
	return string(JSON(renamedKeys(v, names)))
}

func renamedKeys(v any, names map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			if real, ok := names[key]; ok {
				key = real
			}
			out[key] = renamedKeys(inner, names)
		}
		return out
	case []any:
		for i := range v {
			v[i] = renamedKeys(v[i], names)
		}
	}
	return v
}
