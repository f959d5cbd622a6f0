package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// ErrNoSchema is returned for arguments from which no schema can be derived.
var ErrNoSchema = errors.New("no schema: give Parameters, or a struct as Args, or set AllowNoSchema and NoSchemaMode")

// SchemaOf derives a JSON Schema (2020-12) from a struct. Properties stand in field order, so the bytes
// are stable. Field tags: json (name, omitempty = optional), doc (description), enum (comma separated),
// min and max (numbers). Unknown properties are refused.
func SchemaOf[Args any]() (json.RawMessage, error) {
	t := reflect.TypeFor[Args]()
	if t.Kind() != reflect.Struct {
		return nil, ErrNoSchema
	}
	var b bytes.Buffer
	if err := writeStruct(&b, t, map[reflect.Type]bool{}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeStruct writes the object schema of t; open holds the structs being written, so that a recursive
// type is an error and not an endless schema.
func writeStruct(b *bytes.Buffer, t reflect.Type, open map[reflect.Type]bool) error {
	if open[t] {
		return fmt.Errorf("schema: %s contains itself; write Parameters by hand", t)
	}
	open[t] = true
	defer delete(open, t)
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	first := true
	for _, field := range reflect.VisibleFields(t) {
		name, optional, skip := jsonName(field)
		if skip {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(strconv.Quote(name) + ":")
		if err := writeField(b, field, open); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !optional {
			required = append(required, name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		raw, _ := json.Marshal(required)
		b.WriteString(`,"required":` + string(raw))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return nil
}

func jsonName(field reflect.StructField) (name string, optional, skip bool) {
	if !field.IsExported() || (field.Anonymous && field.Type.Kind() == reflect.Struct) {
		return "", false, true
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" {
		return "", false, true
	}
	if name == "" {
		name = field.Name
	}
	optional = strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	return name, optional || field.Type.Kind() == reflect.Pointer, false
}

func writeField(b *bytes.Buffer, field reflect.StructField, open map[reflect.Type]bool) error {
	var inner bytes.Buffer
	if err := writeType(&inner, field.Type, open); err != nil {
		return err
	}
	// The type's schema is an object; the field's own keywords go in before its closing brace.
	schema := inner.Bytes()
	b.Write(schema[:len(schema)-1])
	sep := ","
	if len(schema) == 2 {
		sep = ""
	}
	for _, keyword := range keywordsOf(field) {
		b.WriteString(sep + keyword)
		sep = ","
	}
	b.WriteByte('}')
	return nil
}

func keywordsOf(field reflect.StructField) []string {
	var out []string
	if values := field.Tag.Get("enum"); values != "" {
		raw, _ := json.Marshal(strings.Split(values, ","))
		out = append(out, `"enum":`+string(raw))
	}
	if n := field.Tag.Get("min"); n != "" {
		out = append(out, `"minimum":`+n)
	}
	if n := field.Tag.Get("max"); n != "" {
		out = append(out, `"maximum":`+n)
	}
	if doc := field.Tag.Get("doc"); doc != "" {
		out = append(out, `"description":`+quoteJSON(doc))
	}
	return out
}

// quoteJSON keeps < > & readable: models see these bytes.
func quoteJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

func writeType(b *bytes.Buffer, t reflect.Type, open map[reflect.Type]bool) error {
	if t == reflect.TypeFor[json.RawMessage]() {
		b.WriteString(`{}`)
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return writeType(b, t.Elem(), open)
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
