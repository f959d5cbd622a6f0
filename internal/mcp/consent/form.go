package consent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/mcp"
	"adze/internal/mcp/wire"
	"adze/tool/schema"
)

// Choices for a field.
const (
	yes     = "yes"
	no      = "no"
	without = "leave it out"
)

// maxChoices limits a field's choices, besides those to skip it.
const maxChoices = 8

type field struct {
	name, title, note string
	kind              string // string, number, integer, boolean, array
	format            string
	limits            []string // length and size limits of its schema, for the user
	required          bool
	options           []option // of a string, or an array's items
	preset            any      // default, or nil
	check             func(value any) []schema.Fault
}

type option struct{ value, label string }

// fieldsOf reads a form's schema, an object with primitive fields (MCP elicitation, "Requested
// schema"), in its order.
func fieldsOf(given any) (fields []field, err error) {
	s, _ := given.(map[string]any)
	text, whole := s[wire.Schema].(string)
	if !whole { // from another path, without its order
		raw, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		text = string(raw)
	}
	var form struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		return nil, errors.New("its form cannot be read")
	}
	names, members, err := ordered(form.Properties)
	switch {
	case err != nil:
		return nil, err
	case len(names) > maxFields:
		return nil, fmt.Errorf("it has %d fields, at most %d are asked for", len(names), maxFields)
	}
	for i, name := range names {
		f, err := newField(name, members[i])
		if err != nil {
			return nil, fmt.Errorf("the field %s %w", mcp.Line(name, 40), err)
		}
		f.required = slices.Contains(form.Required, name)
		fields = append(fields, f)
	}
	return fields, nil
}

// ordered returns an object's members in their order.
func ordered(raw json.RawMessage) (names []string, members []json.RawMessage, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, nil, errors.New("its fields are no object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var member json.RawMessage
		if err := d.Decode(&member); err != nil {
			return nil, nil, err
		}
		names, members = append(names, fmt.Sprint(name)), append(members, member)
	}
	return names, members, nil
}

func newField(name string, raw json.RawMessage) (f field, err error) {
	var s map[string]any
	if json.Unmarshal(raw, &s) != nil {
		return f, errors.New("has no plain type")
	}
	text := func(key string, most int) string { said, _ := s[key].(string); return mcp.Line(said, most) }
	f = field{name: name, title: text("title", 100), note: text("description", 300), format: text("format", 40), kind: text("type", 20), preset: s["default"], options: options(s)}
	if f.title == "" {
		f.title = mcp.Line(name, 100)
	}
	if f.kind == "" && len(f.options) > 0 {
		f.kind = "string"
	}
	if f.kind == "array" {
		items, _ := s["items"].(map[string]any)
		if f.options = options(items); len(f.options) == 0 {
			return f, errors.New("is a list without choices")
		}
	}
	if !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, f.kind) {
		return f, errors.New("has no plain type")
	}
	for _, limit := range []struct{ key, words string }{{"minimum", "at least %v"}, {"maximum", "at most %v"}, {"minLength", "at least %v characters"},
		{"maxLength", "at most %v characters"}, {"minItems", "at least %v of them"}, {"maxItems", "at most %v of them"}} {
		if n, ok := s[limit.key].(float64); ok {
			f.limits = append(f.limits, fmt.Sprintf(limit.words, n))
		}
	}
	if f.check, err = schema.Compile(raw); err != nil {
		return f, errors.New("has a schema that cannot be read")
	}
	return f, nil
}

// options returns an enumeration's values, in any version's form.
func options(s map[string]any) (out []option) {
	list := func(key string) []any { l, _ := s[key].([]any); return l }
	names := list("enumNames")
	for i, v := range list("enum") {
		o := option{fmt.Sprint(v), fmt.Sprint(v)}
		if i < len(names) {
			o.label = fmt.Sprint(names[i])
		}
		out = append(out, o)
	}
	for _, v := range slices.Concat(list("oneOf"), list("anyOf")) {
		if one, ok := v.(map[string]any); ok {
			o := option{fmt.Sprint(one["const"]), fmt.Sprint(one["const"])}
			if title, _ := one["title"].(string); title != "" {
				o.label = title
			}
			out = append(out, o)
		}
	}
	for i := range out {
		out[i].label = mcp.Line(out[i].label, 100)
	}
	return out
}

func (f field) text() string {
	text, more := f.title, f.limits
	if f.note != "" {
		text += ": " + f.note
	}
	switch {
	case f.kind == "number":
		more = append([]string{"a number"}, more...)
	case f.kind == "integer":
		more = append([]string{"a whole number"}, more...)
	case f.format != "":
		more = append([]string{f.format}, more...)
	}
	if preset := f.presetAnswer(); preset != "" {
		more = append(more, "default: "+mcp.Line(preset, 100))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	if f.kind == "array" || len(f.options) > maxChoices {
		var labels []string
		for _, o := range f.options[:min(len(f.options), 100)] {
			labels = append(labels, o.label)
		}
		words := map[bool]string{true: "some of, with commas between them: ", false: "one of: "}[f.kind == "array"]
		text += "\n" + words + strings.Join(labels, ", ")
	}
	return text
}

func (f field) choices() (out []string) {
	switch {
	case f.kind == "boolean":
		out = []string{yes, no}
	case f.kind == "string":
		for _, o := range f.options[:min(len(f.options), maxChoices)] {
			out = append(out, o.label)
		}
	}
	if preset := f.presetAnswer(); preset != "" && !slices.Contains(out, preset) {
		out = append([]string{preset}, out...)
	}
	if !f.required {
		out = append(out, without)
	}
	return out
}

// presetAnswer returns the choice for the default, or "" if there is none or it is invalid.
func (f field) presetAnswer() string {
	if f.preset == nil || len(f.check(f.preset)) > 0 {
		return ""
	}
	label := func(v any) string {
		for _, o := range f.options {
			if o.value == fmt.Sprint(v) {
				return o.label
			}
		}
		return fmt.Sprint(v)
	}
	switch preset := f.preset.(type) {
	case bool:
		return map[bool]string{true: yes, false: no}[preset]
	case float64:
		return strconv.FormatFloat(preset, 'f', -1, 64)
	case []any:
		var labels []string
		for _, v := range preset {
			labels = append(labels, label(v))
		}
		return strings.Join(labels, ", ")
	}
	if said := label(f.preset); said == mcp.Line(said, 200) {
		return said
	}
	return ""
}

// value converts an answer to a value; given is false if the field is skipped.
func (f field) value(said string) (value any, given bool, err error) {
	said = strings.TrimSpace(said)
	switch {
	case !f.required && said == without:
		return nil, false, nil
	case said != "" && said == f.presetAnswer():
		return f.preset, true, nil
	}
	if value, err = f.read(said); err != nil {
		return nil, false, err
	}
	if faults := f.check(value); len(faults) > 0 {
		return nil, false, errors.New(faults[0].Message)
	}
	return value, true, nil
}

// read parses an answer as the field's kind.
func (f field) read(said string) (any, error) {
	switch {
	case f.kind == "boolean":
		switch strings.ToLower(said) {
		case yes, "y", "true":
			return true, nil
		case no, "n", "false":
			return false, nil
		}
		return nil, errors.New("say yes or no")
	case f.kind == "number" || f.kind == "integer":
		n, err := strconv.ParseFloat(said, 64)
		if err != nil || n != n || n > 1e15 || n < -1e15 {
			return nil, errors.New("it is no number")
		}
		return n, nil
	case f.kind == "array":
		return f.several(said)
	case len(f.options) > 0:
		for _, o := range f.options {
			if said == o.label || said == o.value {
				return o.value, nil
			}
		}
		return nil, errors.New("it is none of the choices")
	}
	return said, f.fitsFormat(said)
}

// several parses choices separated by commas; a single choice may contain commas.
func (f field) several(said string) (any, error) {
	values := []any{}
	one := f
	one.kind = "string"
	if value, err := one.read(said); err == nil {
		return append(values, value), nil
	}
	for word := range strings.SplitSeq(said, ",") {
		value, err := one.read(strings.TrimSpace(word))
		if strings.TrimSpace(said) != "" && err != nil {
			return nil, err
		}
		if err == nil && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values, nil
}

// fitsFormat checks a text's format, which schema validation does not.
func (f field) fitsFormat(said string) (err error) {
	switch f.format {
	case "email":
		_, err = mail.ParseAddress(said)
	case "uri":
		_, err = url.ParseRequestURI(said)
	case "date":
		_, err = time.Parse(time.DateOnly, said)
	case "date-time":
		_, err = time.Parse(time.RFC3339, said)
	}
	if err != nil {
		return errors.New("it is no " + f.format)
	}
	return nil
}
