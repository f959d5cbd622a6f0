package tool

import (
	"strconv"
	"strings"
)

// mender fits a value to a schema. It touches only what is wrong for certain: a value of a type that the
// schema does not take, a name that it does not know. Whatever it makes is judged by the validator again.
type mender struct {
	prepared *prepared
	shapes   *shapes
	did      *fixes
}

// top fits the arguments themselves.
func (m *mender) top(v *tree) {
	s := m.shapes.top()
	m.unwrap(v, s)
	m.rename(v, s, m.prepared.argAliases)
	m.idioms(v, "")
	m.fit(v, s, "")
}

// value fits anything below.
func (m *mender) value(v *tree, schema any, path string) {
	s := m.shapes.of(schema)
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
	case s.wants("array") && !v.isNull() && v.kind != arrayTree && !encoded(v) && !m.shapes.of(s.items).wants("array"):
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
	var did steps
	if !encoded(v) {
		return false
	}
	inner, ok := readLoosely(v.text, &did)
	if !ok || inner.kind < arrayTree || !s.wants(inner.typeName()) {
		return false
	}
	*v = *inner
	m.did.did(stepDouble)
	for _, kind := range did {
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
