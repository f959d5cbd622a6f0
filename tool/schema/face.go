package schema

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// encoding/json takes "PATH" for path. Arguments must equal their validated form, so that is
// refused.

// NameFault is a property that the decoder would take for another one.
type NameFault struct{ Path, Want string }

func (f *NameFault) Error() string { return f.Path + ": did you mean " + f.Want }

// Face describes a Go type's JSON form: its exact property names, or its items.
type Face struct {
	names map[string]*Face // of a struct
	elem  *Face            // of a slice, array or map
}

// FaceOf describes a type once. A type with its own decoder has no face.
func FaceOf(t reflect.Type) func() *Face {
	return sync.OnceValue(func() *Face { return buildFace(t, map[reflect.Type]*Face{}) })
}

func buildFace(t reflect.Type, known map[reflect.Type]*Face) *Face {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if f, ok := known[t]; ok {
		return f
	}
	if decodesItself(t) {
		return nil
	}
	f := &Face{}
	known[t] = f
	switch t.Kind() {
	case reflect.Struct:
		f.names = map[string]*Face{}
		for _, p := range properties(t) {
			f.names[p.Name] = buildFace(p.field.Type, known)
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
		return false // only named types have methods, and structs those they embed
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// Exact returns a fault for a name that differs from a property's only in case. It builds paths
// only on a fault.
func (f *Face) Exact(value any) *NameFault {
	if f == nil {
		return nil
	}
	switch v := value.(type) {
	case []any:
		for _, child := range v {
			if err := f.elem.Exact(child); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, child := range v {
			if err := f.property(name, child); err != nil {
				err.Path = "/" + Pointer(name) + err.Path
				return err
			}
		}
	}
	return nil
}

func (f *Face) property(name string, value any) *NameFault {
	if f.names == nil {
		return f.elem.Exact(value)
	}
	if child, ok := f.names[name]; ok {
		return child.Exact(value)
	}
	for _, want := range slices.Sorted(maps.Keys(f.names)) {
		if strings.EqualFold(name, want) {
			return &NameFault{Want: want}
		}
	}
	return nil
}
