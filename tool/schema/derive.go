// Package schema works on JSON Schemas: it derives one from a Go struct (derive.go), checks an
// author's schema (metaschema.go, refs.go), compiles it (compile.go), lists all faults in a value
// (explain.go, values.go), describes a place in a value (shape.go) and the names in a Go type
// (face.go).
//
// The one rule: it knows schemas and values, but no tools or calls. Nothing is ever fetched.
//
// Start reading at Of, then Compile. It supports drafts 2020-12 and 7; the library in compile.go
// decides whether a value is valid, explain.go only explains why.
//
// Known limits: faults from unevaluatedProperties and unevaluatedItems have no pointer. A Shape
// only knows type, properties, required, items and additionalProperties, through plain references
// and choices with null.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"adze/tool/laxjson"
)

// ErrNone is returned for a type without a derivable schema.
var ErrNone = errors.New("no schema: give Parameters, or a struct as Args, or set AllowNoSchema and NoSchemaMode")

// Of returns a struct's schema and its properties.
func Of(t reflect.Type) (json.RawMessage, []Property, error) {
	if t.Kind() != reflect.Struct {
		return nil, nil, ErrNone
	}
	list := properties(t)
	whole, err := write(t, list, pen{})
	return whole, list, err
}

// Offer returns the model's view of a struct's schema. It omits facts that an error would report:
// bounds, the ban on other properties, optional fields tagged offer:"-", and the descriptions that
// says omits. list is the one from Of.
func Offer(t reflect.Type, list []Property) (json.RawMessage, error) {
	return write(t, list, pen{said: map[string]bool{}})
}

func write(t reflect.Type, list []Property, p pen) (json.RawMessage, error) {
	p.Grow(1 << 10)
	p.open = map[reflect.Type]bool{t: true}
	if err := p.properties(list); err != nil {
		return nil, err
	}
	return p.Bytes(), nil
}

type pen struct {
	bytes.Buffer
	open map[reflect.Type]bool // structs in progress: a recursive type is an error, not an endless schema
	said map[string]bool       // written descriptions by name; nil writes all
}

func (p *pen) structure(t reflect.Type) error {
	if p.open[t] {
		return fmt.Errorf("schema: %s contains itself; write Parameters by hand", t)
	}
	p.open[t] = true
	defer delete(p.open, t)
	return p.properties(properties(t))
}

func (p *pen) properties(list []Property) error {
	var required []string
	p.WriteString(`{"type":"object","properties":{`)
	first := true
	for _, property := range list {
		if p.said != nil && property.optional && property.field.Tag.Get("offer") == "-" {
			continue
		}
		if !first {
			p.WriteByte(',')
		}
		first = false
		p.WriteString(laxjson.Quote(property.Name))
		p.WriteByte(':')
		if err := p.property(property); err != nil {
			return fmt.Errorf("%s: %w", property.Name, err)
		}
		if !property.optional {
			required = append(required, property.Name)
		}
	}
	p.WriteByte('}')
	if len(required) > 0 {
		p.WriteString(`,"required":`)
		p.WriteString(quoteList(required))
	}
	if p.said == nil {
		p.WriteString(`,"additionalProperties":false`)
	}
	p.WriteByte('}')
	return nil
}

// Property is a field as encoding/json sees it.
type Property struct {
	Name     string
	optional bool
	field    reflect.StructField
}

// properties lists a struct's JSON fields, in order.
func properties(t reflect.Type) (out []Property) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		if tag == "-" || !field.IsExported() && !field.Anonymous {
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

func (p *pen) property(of Property) error {
	if of.field.Anonymous {
		return errors.New("schema: an embedded field is not supported; write its fields out")
	}
	start := p.Len()
	if err := p.kind(of.field.Type); err != nil {
		return err
	}
	keywords, err := p.keywords(of)
	if err != nil {
		return err
	}
	// The type's schema is an object; insert the field's keywords before its closing brace.
	p.Truncate(p.Len() - 1)
	for _, keyword := range keywords {
		if p.Len() > start+1 {
			p.WriteByte(',')
		}
		p.WriteString(keyword)
	}
	p.WriteByte('}')
	return nil
}

// keywords reads a field's tags. A tag that does not suit the field's type is an error: a schema
// that no value can match would look like the model's mistake.
func (p *pen) keywords(of Property) ([]string, error) {
	var out []string
	field := of.field
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
		if n == "" || p.said != nil {
			continue
		}
		if _, err := strconv.ParseFloat(n, 64); err != nil || !json.Valid([]byte(n)) || !numeric(kindOf(field.Type)) {
			return nil, fmt.Errorf("schema: a %s tag is a number and for numbers", bound[0])
		}
		out = append(out, `"`+bound[1]+`":`+n)
	}
	if doc := field.Tag.Get("doc"); doc != "" && p.says(of, doc) {
		out = append(out, `"description":`+laxjson.Quote(doc))
	}
	return out, nil
}

// says reports whether to write a description. A view omits those tagged offer:"plain", which
// repeat the name, and repetitions for a property with the same name.
func (p *pen) says(of Property, doc string) bool {
	if p.said == nil {
		return true
	}
	key := of.Name + "\x00" + doc
	was := p.said[key]
	p.said[key] = true
	return !was && of.field.Tag.Get("offer") != "plain"
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
		quoted[i] = laxjson.Quote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func (p *pen) kind(t reflect.Type) error {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		p.WriteString(`{}`)
		return nil
	case t == reflect.TypeFor[[]byte]():
		p.WriteString(`{"type":"string","contentEncoding":"base64"}`)
		return nil
	case t.Kind() == reflect.Pointer:
		return p.kind(t.Elem())
	case decodesItself(t):
		return fmt.Errorf("schema: %s decodes itself; write Parameters by hand", t)
	}
	switch t.Kind() {
	case reflect.String:
		p.WriteString(`{"type":"string"}`)
	case reflect.Bool:
		p.WriteString(`{"type":"boolean"}`)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.WriteString(`{"type":"integer"}`)
	case reflect.Float32, reflect.Float64:
		p.WriteString(`{"type":"number"}`)
	case reflect.Interface:
		p.WriteString(`{}`)
	case reflect.Struct:
		return p.structure(t)
	case reflect.Slice, reflect.Array:
		return p.wrapped(`{"type":"array","items":`, t.Elem())
	case reflect.Map:
		return p.wrapped(`{"type":"object","additionalProperties":`, t.Elem())
	default:
		return fmt.Errorf("schema: no JSON for %s; write Parameters by hand", t)
	}
	return nil
}

func (p *pen) wrapped(prefix string, elem reflect.Type) error {
	p.WriteString(prefix)
	if err := p.kind(elem); err != nil {
		return err
	}
	p.WriteByte('}')
	return nil
}
