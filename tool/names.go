package tool

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// The decoder of encoding/json is laxer about names than a schema: it takes "PATH" for path, and merges two
// objects of one name. Arguments must be what was validated, so both are refused.

// keysWritten counts the names in a JSON text, which is known to be valid: one colon each, outside strings.
func keysWritten(text string) int {
	n, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case c == ':' && !inString:
			n++
		}
	}
	return n
}

// measure counts the names in a decoded value and how deep it nests; names that were written twice are
// there once.
func measure(value any) (names, depth int) {
	var children []any
	switch v := value.(type) {
	case map[string]any:
		names = len(v)
		for _, child := range v {
			children = append(children, child)
		}
	case []any:
		children = v
	default:
		return 0, 0
	}
	for _, child := range children {
		n, d := measure(child)
		names, depth = names+n, max(depth, d)
	}
	return names, depth + 1
}

// nameFault is a property that the decoder would take for another one.
type nameFault struct{ path, want string }

func (f *nameFault) Error() string { return f.path + ": did you mean " + f.want }

// face is what a Go type looks like in JSON: the exact names of its properties, or what its items are.
type face struct {
	names map[string]*face // of a struct
	elem  *face            // of a slice, array or map
}

// faceOf describes a type once; a type that decodes itself has its own rules and no face.
func faceOf(t reflect.Type) func() *face {
	return sync.OnceValue(func() *face { return buildFace(t, map[reflect.Type]*face{}) })
}

func buildFace(t reflect.Type, known map[reflect.Type]*face) *face {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if f, ok := known[t]; ok {
		return f
	}
	if decodesItself(t) {
		return nil
	}
	f := &face{}
	known[t] = f
	switch t.Kind() {
	case reflect.Struct:
		f.names = map[string]*face{}
		for _, p := range properties(t) {
			f.names[p.name] = buildFace(p.field.Type, known)
		}
	case reflect.Slice, reflect.Array, reflect.Map:
		f.elem = buildFace(t.Elem(), known)
	default:
		return nil
	}
	return f
}

func decodesItself(t reflect.Type) bool {
	if t.PkgPath() == "" && t.Kind() != reflect.Struct {
		return false // only named types have methods, and structs those that they embed
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// exact refuses a name that differs from a property's only in case. Paths are made on the way back, so the
// usual call pays for none.
func (f *face) exact(value any) *nameFault {
	if f == nil {
		return nil
	}
	switch v := value.(type) {
	case []any:
		for _, child := range v {
			if err := f.elem.exact(child); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, child := range v {
			if err := f.property(name, child); err != nil {
				err.path = "/" + pointer(name) + err.path
				return err
			}
		}
	}
	return nil
}

func (f *face) property(name string, value any) *nameFault {
	if f.names == nil {
		return f.elem.exact(value)
	}
	if child, ok := f.names[name]; ok {
		return child.exact(value)
	}
	for _, want := range sortedKeys(f.names) {
		if strings.EqualFold(name, want) {
			return &nameFault{want: want}
		}
	}
	return nil
}
