package tool

import (
	"strconv"
	"strings"

	"adze/tool/laxjson"
	"adze/tool/schema"
)

// mender fits a value to a schema. It changes only certain errors: values with a type that the
// schema does not allow, and unknown names. The validator judges the result again.
type mender struct {
	prepared *initTool
	shapes   *schema.Shapes
	fixes    *fixes
}

// top fits the whole arguments.
func (m *mender) top(v *laxjson.Tree) {
	s := m.shapes.Top()
	m.unwrap(v, s)
	m.rename(v, s, m.prepared.compat.Args)
	m.adapt(v)
	m.reword(v)
	m.fit(v, s, "")
}

// value fits a nested value.
func (m *mender) value(v *laxjson.Tree, schema any, path string) {
	s := m.shapes.Of(schema)
	if !s.Takes(v.Type()) {
		m.convert(v, s)
	}
	if v.Kind == laxjson.Object {
		m.rename(v, s, m.aliasesIn(s, path))
		m.reword(v)
	}
	m.fit(v, s, path)
}

// fit descends into a value. The depth is limited by laxjson.MaxNesting.
func (m *mender) fit(v *laxjson.Tree, s *schema.Shape, path string) {
	switch v.Kind {
	case laxjson.Object:
		m.drop(v, s, path)
		for i, name := range v.Names {
			child, known := s.Properties[name]
			if !known && !s.Patterns {
				child = s.Additional
			}
			m.value(v.Items[i], child, path+"/"+schema.Pointer(name))
		}
	case laxjson.Array:
		if s.Prefixed {
			return
		}
		for i, item := range v.Items {
			m.value(item, s.Items, path+"/"+strconv.Itoa(i))
		}
	}
}

// convert changes a value with a wrong type into the intended one if that is certain.
func (m *mender) convert(v *laxjson.Tree, s *schema.Shape) {
	switch {
	case v.Kind == laxjson.String && (s.Wants("object") || s.Wants("array")) && m.decode(v, s):
	case v.Kind == laxjson.String && m.fromLiteral(v, s):
	case v.Kind == laxjson.Number && s.Wants("string"):
		v.Kind = laxjson.String
		m.fixes.addFix(stepString)
	case s.Wants("array") && !v.Null() && v.Kind != laxjson.Array && !encoded(v) && !m.shapes.Of(s.Items).Wants("array"):
		one := *v
		*v = laxjson.Tree{Kind: laxjson.Array, Items: []*laxjson.Tree{&one}}
		m.fixes.addFix(stepArray)
	}
}

// encoded reports whether a string looks like JSON for a list or object. If it cannot be parsed, it
// is not an item.
func encoded(v *laxjson.Tree) bool {
	text := strings.TrimSpace(v.Text)
	return v.Kind == laxjson.String && (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{"))
}

// decode replaces a string by the object or array in it.
func (m *mender) decode(v *laxjson.Tree, s *schema.Shape) bool {
	var did laxjson.Steps
	if !encoded(v) {
		return false
	}
	inner, ok := laxjson.Read(v.Text, &did)
	if !ok || inner.Kind < laxjson.Array || !s.Wants(inner.Type()) {
		return false
	}
	*v = *inner
	m.fixes.addFix(stepDouble)
	for _, kind := range did {
		m.fixes.addFix(kind)
	}
	return true
}

// fromLiteral removes the quotes from an exactly written number or boolean.
func (m *mender) fromLiteral(v *laxjson.Tree, s *schema.Shape) bool {
	number := laxjson.Tree{Kind: laxjson.Number, Text: v.Text}
	switch {
	case (v.Text == "true" || v.Text == "True" || v.Text == "false" || v.Text == "False") && s.Wants("boolean"):
		*v = laxjson.Tree{Text: strings.ToLower(v.Text)}
		m.fixes.addFix(stepBoolean)
	case laxjson.IsNumber(v.Text) && s.Wants(number.Type()):
		*v = number
		m.fixes.addFix(stepNumber)
	default:
		return false
	}
	return true
}
