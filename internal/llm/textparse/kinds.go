package textparse

import (
	"encoding/json"
	"strings"

	"adze/tool"
	"adze/tool/laxjson"
)

// kinds are the types that a schema allows for an argument; empty means any.
type kinds map[string]bool

type schema struct {
	Type       json.RawMessage   `json:"type"`
	Enum       []any             `json:"enum"`
	AnyOf      []schema          `json:"anyOf"`
	OneOf      []schema          `json:"oneOf"`
	Properties map[string]schema `json:"properties"`
}

func (s schema) kinds() kinds {
	out := kinds{}
	var one string
	var list []string
	if json.Unmarshal(s.Type, &one) == nil {
		list = []string{one}
	} else {
		_ = json.Unmarshal(s.Type, &list) // neither form: no type
	}
	for _, name := range list {
		out[name] = true
	}
	for _, v := range s.Enum {
		if _, text := v.(string); text && len(list) == 0 {
			out["string"] = true
		}
	}
	for _, inner := range append(s.AnyOf, s.OneOf...) {
		for name := range inner.kinds() {
			out[name] = true
		}
	}
	return out
}

// of returns an argument's types; one missing in the schema is text.
func (t *tools) of(name, argument string) kinds {
	o := t.named(name)
	if !o.read {
		var root schema
		_ = json.Unmarshal(o.schema, &root) // without properties everything is text
		o.kinds, o.read = map[string]kinds{}, true
		for p, about := range root.Properties {
			o.kinds[p] = about.kinds()
		}
	}
	if k, known := o.kinds[argument]; known {
		return k
	}
	return kinds{"string": true}
}

func (t *tools) has(name, argument string) bool {
	t.of(name, argument)
	_, known := t.named(name).kinds[argument]
	return known
}

// value converts a bare value in markup to JSON if the types allow more than text. Models write
// True, TRUE and None.
func (k kinds) value(bare string) (string, bool) {
	text := k["string"]
	switch word := strings.ToLower(bare); {
	case (word == "null" || word == "none") && (k["null"] || !text):
		return "null", true
	case text && len(k) == 1, text && len(k) == 2 && k["null"]:
		return "", false
	case (word == "true" || word == "false") && (k["boolean"] || bare != strings.ToUpper(bare)):
		return word, true
	case json.Valid([]byte(bare)):
		return bare, true
	case k["object"] && strings.HasPrefix(bare, "{"), k["array"] && strings.HasPrefix(bare, "["):
		if t, rest, ok := laxjson.Python(bare); ok && strings.TrimSpace(rest) == "" {
			return t.String(), true
		}
	}
	return "", false
}

// tools are the offered tools. They are indexed by name on first use: most answers contain nothing
// like a call.
type tools struct {
	list   []tool.Definition
	byName map[string]*toolKinds
}

// toolKinds is a tool with its argument types, parsed on first use.
type toolKinds struct {
	schema json.RawMessage
	kinds  map[string]kinds
	read   bool
}

func (t *tools) all() map[string]*toolKinds {
	if t.byName == nil {
		t.byName = map[string]*toolKinds{}
		for _, d := range t.list {
			o := &toolKinds{schema: d.Parameters}
			t.byName[d.Name] = o
			for _, name := range d.Aliases {
				t.byName[name] = o
			}
		}
	}
	return t.byName
}

// named returns a tool by name, or nil.
func (t *tools) named(name string) *toolKinds { return t.all()[name] }

// starts reports whether prefix begins an offered tool's name.
func (t *tools) starts(prefix string) bool {
	for name := range t.all() {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// all accepts the calls if all of their tools are offered.
func (s *scanner) all(calls []blockCall, ok bool) blockResult {
	if !ok || len(calls) == 0 {
		return blockResult{verdict: no}
	}
	for _, c := range calls {
		if s.tools.named(c.name) == nil {
			return blockResult{verdict: no}
		}
	}
	return blockResult{verdict: yes, calls: calls}
}
