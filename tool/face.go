package tool

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// The decoder of encoding/json takes "PATH" for path. Arguments must be what was validated, so that is refused.

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
	for _, want := range slices.Sorted(maps.Keys(f.names)) {
		if strings.EqualFold(name, want) {
			return &nameFault{want: want}
		}
	}
	return nil
}
