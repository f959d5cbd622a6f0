// Package jsonc parses files written by users: JSON with comments and trailing commas.
//
// The one rule: a duplicate name is an error. encoding/json silently takes the last of two members
// with one name, so that a second, empty "deny" drops the first; and it accepts "Deny" for "deny".
//
// Start reading at Decode.
//
// Known limits: names inside values that decode themselves are compared exactly.
package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

// SyntaxError means that a text is not JSON with comments.
type SyntaxError struct{ Message string }

func (e *SyntaxError) Error() string { return e.Message }

// DuplicateError is a duplicate name in an object.
type DuplicateError struct {
	Name      string // second occurrence, with the names of the enclosing objects: "output.lines"
	FirstName string // first occurrence; may differ in case
	Line      int    // second occurrence's line, from 1
	First     int    // first occurrence's line
}

func (e *DuplicateError) Error() string {
	if own := e.Name[strings.LastIndexByte(e.Name, '.')+1:]; own != e.FirstName {
		return fmt.Sprintf("line %d: %s is %q of line %d again", e.Line, e.Name, e.FirstName, e.First)
	}
	return fmt.Sprintf("line %d: %s stands in line %d already", e.Line, e.Name, e.First)
}

// Unknown is a name without a field.
type Unknown struct {
	Name    string   // with the names of the enclosing objects: "output.lins"
	Line    int      // from 1
	Known   []string // the valid names there
	Retired string   // retired tag of the field with this name, which is still decoded; empty if there is no field
}

// Decode decodes raw into a struct and returns it as plain JSON. Unknown or duplicate names are
// errors.
func Decode(raw []byte, into any) ([]byte, error) {
	standard, _, err := read(raw, into)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(standard))
	dec.DisallowUnknownFields()
	return standard, dec.Decode(into)
}

// DecodeKnown is Decode, but returns unknown and retired names instead of failing.
func DecodeKnown(raw []byte, into any) (standard []byte, unknown []Unknown, err error) {
	standard, unknown, err = read(raw, into)
	if err != nil {
		return nil, nil, err
	}
	return standard, unknown, json.Unmarshal(standard, into)
}

func read(raw []byte, into any) (standard []byte, unknown []Unknown, err error) {
	raw, err = Text(raw)
	if err != nil {
		return nil, nil, err
	}
	tree, err := hujson.Parse(raw)
	if err != nil {
		return nil, nil, &SyntaxError{strings.TrimPrefix(err.Error(), "hujson: ")}
	}
	s := search{raw: raw}
	if err := s.value(tree, reflect.TypeOf(into), ""); err != nil {
		return nil, nil, err
	}
	tree.Standardize()
	return tree.Pack(), s.unknown, nil
}

// Text removes a byte order mark and returns an empty object for a file with only comments. Other
// encodings are an error.
func Text(raw []byte) ([]byte, error) {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return nil, &SyntaxError{"the file is UTF-16; save it as UTF-8"}
	}
	text := strings.TrimSuffix(strings.TrimPrefix(string(raw), "\xef\xbb\xbf"), "\n") + "\n" // hujson needs it after a final comment
	if _, err := hujson.Parse([]byte(text + "null")); err == nil {                           // parses only if there is no value
		return []byte(strings.TrimLeft(text, "\n") + "{}\n"), nil
	}
	return []byte(text), nil
}

type search struct {
	raw     []byte
	unknown []Unknown
}

func (s *search) value(v hujson.Value, t reflect.Type, path string) error {
	t = plain(t)
	switch v := v.Value.(type) {
	case *hujson.Array:
		for _, e := range v.Elements {
			if err := s.value(e, elem(t), path); err != nil {
				return err
			}
		}
	case *hujson.Object:
		return s.object(v, t, path)
	}
	return nil
}

func (s *search) object(o *hujson.Object, t reflect.Type, path string) error {
	isStruct := t != nil && t.Kind() == reflect.Struct
	seen := map[string]hujson.ObjectMember{}
	for _, m := range o.Members {
		name := nameOf(m)
		known := name
		if isStruct {
			known = folded(name)
		}
		whole := strings.TrimPrefix(path+"."+name, ".")
		if first, twice := seen[known]; twice {
			return &DuplicateError{whole, nameOf(first), s.line(m), s.line(first)}
		}
		seen[known] = m
		inner := elem(t)
		if isStruct {
			field, ok := fieldOf(t, known)
			if inner = field.Type; !ok || field.Tag.Get("retired") != "" {
				s.unknown = append(s.unknown, Unknown{whole, s.line(m), fieldsOf(t), field.Tag.Get("retired")})
			}
		}
		if err := s.value(m.Value, inner, whole); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) line(m hujson.ObjectMember) int {
	return 1 + bytes.Count(s.raw[:m.Name.StartOffset], []byte("\n"))
}

func nameOf(m hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

// plain returns the type that JSON is decoded into, or nil if the type decodes itself or is
// unknown.
func plain(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	return t
}

func elem(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return t.Elem()
	}
	return nil
}

func fieldOf(t reflect.Type, known string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		if name := fieldName(field); name != "" && folded(name) == known {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func fieldsOf(t reflect.Type) (names []string) {
	for field := range t.Fields() {
		if name := fieldName(field); name != "" && field.Tag.Get("retired") == "" {
			names = append(names, name)
		}
	}
	return names
}

// fieldName returns a field's name in the file, or "" if it has none.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported() || name == "-":
		return ""
	case name == "":
		return f.Name
	}
	return name
}

// folded returns a canonical spelling of all names that encoding/json treats as equal: each letter
// becomes the smallest one that Unicode folds with it.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}
