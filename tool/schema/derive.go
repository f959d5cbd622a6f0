// Package schema works on JSON Schemas: it derives one from a Go struct (derive.go), copies what it refers to into it
// (link.go), checks what an author wrote (metaschema.go, refs.go), compiles it (compile.go), names every fault of a
// value (explain.go, values.go), and says what it wants of a place in a value (shape.go) and how a Go type spells its
// names (face.go).
//
// The one rule: it knows schemas and values, and neither tools nor calls. Nothing is ever fetched.
//
// Start reading at Of, then Compile. Drafts 2020-12 and 7 are understood; the library in compile.go has the last
// word on whether a value is valid, explain.go only on why.
//
// Known limits: what unevaluatedProperties and unevaluatedItems refuse is refused without a pointer. A Shape says
// type, properties, required, items and additionalProperties only, through plain references and choices with null.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"adze/tool/loose"
)

// ErrNone is returned for a type from which no schema can be derived.
var ErrNone = errors.New("no schema: give Parameters, or a struct as Args, or set AllowNoSchema and NoSchemaMode")

// Of makes the schema of a struct and lists the properties in it.
func Of(t reflect.Type) (json.RawMessage, []Property, error) {
	if t.Kind() != reflect.Struct {
		return nil, nil, ErrNone
	}
	var b bytes.Buffer
	b.Grow(1 << 10)
	list := properties(t)
	if err := writeProperties(&b, list, map[reflect.Type]bool{t: true}); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), list, nil
}

// writeStruct writes the object schema of t; open holds the structs being written, so that a recursive
// type is an error and not an endless schema.
func writeStruct(b *bytes.Buffer, t reflect.Type, open map[reflect.Type]bool) error {
	if open[t] {
		return fmt.Errorf("schema: %s contains itself; write Parameters by hand", t)
	}
	open[t] = true
	defer delete(open, t)
	return writeProperties(b, properties(t), open)
}

func writeProperties(b *bytes.Buffer, list []Property, open map[reflect.Type]bool) error {
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(loose.Quote(p.Name))
		b.WriteByte(':')
		if err := writeField(b, p.field, open); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if !p.optional {
			required = append(required, p.Name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":`)
		b.WriteString(quoteList(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return nil
}

// Property is a field as encoding/json sees it.
type Property struct {
	Name     string
	optional bool
	field    reflect.StructField
}

// properties lists the fields of a struct that JSON reaches, in order, with those of embedded structs in
// their place.
func properties(t reflect.Type) []Property {
	var out []Property
	for _, field := range fieldsOf(t) {
		tag := field.Tag.Get("json")
		if !promoted(t, field) || tag == "-" || embeds(field) || !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = field.Name
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		out = append(out, Property{name, optional || field.Type.Kind() == reflect.Pointer, field})
	}
	return out
}

// fieldsOf are the fields of a struct and those that embedding promotes. Looking for the latter costs more
// than all the rest, and most structs embed nothing.
func fieldsOf(t reflect.Type) []reflect.StructField {
	fields := make([]reflect.StructField, t.NumField())
	for i := range fields {
		if fields[i] = t.Field(i); fields[i].Anonymous {
			return reflect.VisibleFields(t)
		}
	}
	return fields
}

// embeds reports whether a field stands for the fields of its struct: embedded and without a name of its
// own in JSON.
func embeds(field reflect.StructField) bool {
	if !field.Anonymous {
		return false
	}
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return t.Kind() == reflect.Struct && name == ""
}

// promoted reports whether all that a field lies in is embedded in JSON too.
func promoted(t reflect.Type, field reflect.StructField) bool {
	for depth := 1; depth < len(field.Index); depth++ {
		if !embeds(t.FieldByIndex(field.Index[:depth])) {
			return false
		}
	}
	return true
}

func writeField(b *bytes.Buffer, field reflect.StructField, open map[reflect.Type]bool) error {
	start := b.Len()
	if err := writeType(b, field.Type, open); err != nil {
		return err
	}
	keywords, err := keywordsOf(field)
	if err != nil {
		return err
	}
	// The type's schema is an object; the field's own keywords go in before its closing brace.
	b.Truncate(b.Len() - 1)
	for _, keyword := range keywords {
		if b.Len() > start+1 {
			b.WriteByte(',')
		}
		b.WriteString(keyword)
	}
	b.WriteByte('}')
	return nil
}

// keywordsOf reads the tags of a field; a tag that cannot hold for the field's type is an error, because a
// schema that no value can match would look like the model's mistake.
func keywordsOf(field reflect.StructField) ([]string, error) {
	var out []string
	if _, options, _ := strings.Cut(field.Tag.Get("json"), ","); strings.Contains(options, "string") {
		return nil, errors.New("schema: the json option string is not supported")
	}
	if values := field.Tag.Get("enum"); values != "" {
		if kindOf(field.Type) != reflect.String {
			return nil, errors.New("schema: an enum tag is for strings; write Parameters by hand")
		}
		out = append(out, `"enum":`+quoteList(strings.Split(values, ",")))
	}
	for _, bound := range [][2]string{{"min", "minimum"}, {"max", "maximum"}} {
		n := field.Tag.Get(bound[0])
		if n == "" {
			continue
		}
		if _, err := strconv.ParseFloat(n, 64); err != nil || !json.Valid([]byte(n)) || !numeric(kindOf(field.Type)) {
			return nil, fmt.Errorf("schema: a %s tag is a number and for numbers", bound[0])
		}
		out = append(out, `"`+bound[1]+`":`+n)
	}
	if doc := field.Tag.Get("doc"); doc != "" {
		out = append(out, `"description":`+loose.Quote(doc))
	}
	return out, nil
}

func kindOf(t reflect.Type) reflect.Kind {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind()
}

func numeric(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr
}

func quoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = loose.Quote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func writeType(b *bytes.Buffer, t reflect.Type, open map[reflect.Type]bool) error {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		b.WriteString(`{}`)
		return nil
	case t == reflect.TypeFor[[]byte]():
		b.WriteString(`{"type":"string","contentEncoding":"base64"}`)
		return nil
	case t.Kind() == reflect.Pointer:
		return writeType(b, t.Elem(), open)
	case decodesItself(t):
		return fmt.Errorf("schema: %s decodes itself; write Parameters by hand", t)
	}
	switch t.Kind() {
	case reflect.String:
		b.WriteString(`{"type":"string"}`)
	case reflect.Bool:
		b.WriteString(`{"type":"boolean"}`)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		b.WriteString(`{"type":"integer"}`)
	case reflect.Float32, reflect.Float64:
		b.WriteString(`{"type":"number"}`)
	case reflect.Interface:
		b.WriteString(`{}`)
	case reflect.Struct:
		return writeStruct(b, t, open)
	case reflect.Slice, reflect.Array:
		return writeWrapped(b, `{"type":"array","items":`, t.Elem(), open)
	case reflect.Map:
		return writeWrapped(b, `{"type":"object","additionalProperties":`, t.Elem(), open)
	default:
		return fmt.Errorf("schema: no JSON for %s; write Parameters by hand", t)
	}
	return nil
}

func writeWrapped(b *bytes.Buffer, prefix string, elem reflect.Type, open map[reflect.Type]bool) error {
	b.WriteString(prefix)
	if err := writeType(b, elem, open); err != nil {
		return err
	}
	b.WriteByte('}')
	return nil
}
