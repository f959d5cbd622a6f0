package tool

import (
	"slices"
	"strconv"
	"strings"
)

// mender fits a value to a schema. It touches only what is wrong for certain: a value of a type that the
// schema does not take, a name that it does not know. Whatever it makes is judged by the validator again.
type mender struct {
	prepared *prepared
	root     any
	draft7   bool
	did      *fixes
}

// shape is what a schema says about a value, as far as a repair can be sure of it.
type shape struct {
	types      []string // empty: any
	properties map[string]any
	patterns   bool
	required   []any
	additional any // nil: any
	items      any
	prefixed   bool
}

// closed reports whether a property that is not listed is a fault.
func (s *shape) closed() bool { return s.additional == false && !s.patterns }

func (s *shape) takes(kind string) bool {
	return len(s.types) == 0 || slices.Contains(s.types, kind) || kind == "integer" && slices.Contains(s.types, "number")
}

// wants reports whether a schema that names its types names this one.
func (s *shape) wants(kind string) bool { return len(s.types) > 0 && s.takes(kind) }

// maxHops bounds the references and alternatives between a schema and what it says.
const maxHops = 20

// shape follows plain references and choices that leave one form beside null. Anything else that combines
// schemas says nothing certain.
func (m *mender) shape(node any) *shape {
	null := false
	for range maxHops {
		schema, ok := node.(map[string]any)
		if !ok {
			return &shape{}
		}
		next, nullable, more := m.through(schema)
		null = null || nullable
		if !more {
			return shapeOf(schema, null)
		}
		node = next
	}
	return &shape{}
}

// through finds the one schema that stands behind another.
func (m *mender) through(schema map[string]any) (next any, null, more bool) {
	if ref, ok := schema["$ref"].(string); ok && (m.draft7 || onlyNotes(schema, "$ref")) {
		target, found := lookupRef(m.root, ref)
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

// onlyNotes reports whether a keyword stands alone but for annotations.
func onlyNotes(schema map[string]any, keyword string) bool {
	for key := range schema {
		if key != keyword && !slices.Contains([]string{"title", "description", "default", "examples", "deprecated",
			"readOnly", "writeOnly", "$comment", "$schema", "$defs", "definitions"}, key) {
			return false
		}
	}
	return true
}

func shapeOf(schema map[string]any, null bool) *shape {
	s := &shape{required: list(schema["required"]), additional: schema["additionalProperties"], items: schema["items"]}
	s.properties, _ = schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	s.patterns = len(patterns) > 0
	_, listed := schema["items"].([]any)
	s.prefixed = listed || schema["prefixItems"] != nil
	switch t := schema["type"].(type) {
	case string:
		s.types = []string{t}
	case []any:
		for _, one := range t {
			name, _ := one.(string)
			s.types = append(s.types, name)
		}
	}
	if null && len(s.types) > 0 {
		s.types = append(s.types, "null")
	}
	return s
}

// top fits the arguments themselves.
func (m *mender) top(v *tree) {
	s := m.shape(m.root)
	m.unwrap(v, s)
	m.rename(v, s, m.prepared.argAliases)
	m.idioms(v, "")
	m.fit(v, s, "")
}

// value fits anything below.
func (m *mender) value(v *tree, schema any, path string) {
	s := m.shape(schema)
	if !s.takes(v.typeName()) {
		m.convert(v, s)
	}
	if v.kind == objectTree {
		m.rename(v, s, m.aliasesIn(s, path))
		m.idioms(v, path)
	}
	m.fit(v, s, path)
}

// fit goes on with what lies in a value. Trees that were read nest within maxNesting, and so do the schemas'
// demands on them.
func (m *mender) fit(v *tree, s *shape, path string) {
	switch v.kind {
	case objectTree:
		m.drop(v, s, path)
		for i, name := range v.names {
			child, known := s.properties[name]
			if !known && !s.patterns {
				child = s.additional
			}
			m.value(v.items[i], child, path+"/"+pointer(name))
		}
	case arrayTree:
		if s.prefixed {
			return
		}
		for i, item := range v.items {
			m.value(item, s.items, path+"/"+strconv.Itoa(i))
		}
	}
}

// convert rewrites a value of a wrong type into the one that is meant, where there is no doubt.
func (m *mender) convert(v *tree, s *shape) {
	switch {
	case v.kind == stringTree && (s.wants("object") || s.wants("array")) && m.decode(v, s):
	case v.kind == stringTree && m.fromLiteral(v, s):
	case v.kind == numberTree && s.wants("string"):
		v.kind = stringTree
		m.did.did(stepString)
	case s.wants("array") && !v.isNull() && v.kind != arrayTree && !encoded(v) && !m.shape(s.items).wants("array"):
		one := *v
		*v = tree{kind: arrayTree, items: []*tree{&one}}
		m.did.did(stepArray)
	}
}

// encoded reports whether a string looks like the JSON of a list or object. One that could not be read is
// not an item.
func encoded(v *tree) bool {
	text := strings.TrimSpace(v.text)
	return v.kind == stringTree && (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{"))
}

// decode takes the object or array out of a string that holds it.
func (m *mender) decode(v *tree, s *shape) bool {
	var did fixes
	if !encoded(v) {
		return false
	}
	inner, ok := readLoosely(v.text, &did)
	if !ok || inner.kind < arrayTree || !s.wants(inner.typeName()) {
		return false
	}
	*v = *inner
	m.did.did(stepDouble)
	for _, kind := range did.kinds {
		m.did.did(kind)
	}
	return true
}

// fromLiteral takes the quotes off a number or boolean that is written exactly as one.
func (m *mender) fromLiteral(v *tree, s *shape) bool {
	number := tree{kind: numberTree, text: v.text}
	switch {
	case (v.text == "true" || v.text == "True" || v.text == "false" || v.text == "False") && s.wants("boolean"):
		*v = tree{text: strings.ToLower(v.text)}
		m.did.did(stepBoolean)
	case numberLiteral(v.text) && s.wants(number.typeName()):
		*v = number
		m.did.did(stepNumber)
	default:
		return false
	}
	return true
}
