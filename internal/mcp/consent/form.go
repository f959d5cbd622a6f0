package consent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/mcp"
	"adze/internal/mcp/wire"
)

// The ready answers about a field.
const (
	yes     = "yes"
	no      = "no"
	without = "leave it out"
)

// maxChoices is how many ready answers are shown beside those about leaving it out.
const maxChoices = 8

// field is one value that a server asks for.
type field struct {
	name, title, note string
	kind              string // string, number, integer, boolean, array
	format, pattern   string
	needed            bool
	options           []option // of a string, or of the items of an array
	least, most       *float64 // of a number, of the length of a string, of the items of an array
	usual             any      // if nil, none
}

// option is a value with the words that a user is shown for it.
type option struct{ value, label string }

// fieldsOf reads the schema of a form: an object of plain values (elicitation, "Requested schema").
// Its fields are in the order in which they stand there.
func fieldsOf(schema any) ([]field, error) {
	s, _ := schema.(map[string]any)
	text, whole := s[wire.Schema].(string)
	if !whole { // it came another way; its order is not known
		raw, err := json.Marshal(schema)
		if err != nil {
			return nil, err
		}
		text = string(raw)
	}
	var form struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if text == "null" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		return nil, errors.New("its form cannot be read")
	}
	names, values, err := members(form.Properties)
	if err != nil {
		return nil, err
	}
	if len(names) > maxFields {
		return nil, fmt.Errorf("it has %d fields, at most %d are asked for", len(names), maxFields)
	}
	var out []field
	for i, name := range names {
		f, err := fieldOf(name, values[i])
		if err != nil {
			return nil, err
		}
		f.needed = slices.Contains(form.Required, name)
		out = append(out, f)
	}
	return out, nil
}

// members are the members of an object in their order.
func members(raw json.RawMessage) (names []string, values []map[string]any, err error) {
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
		var value any
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		one, _ := value.(map[string]any)
		names, values = append(names, fmt.Sprint(name)), append(values, one)
	}
	return names, values, nil
}

func fieldOf(name string, raw map[string]any) (field, error) {
	text := func(key string, most int) string { s, _ := raw[key].(string); return mcp.Line(s, most) }
	f := field{name: name, title: text("title", 100), note: text("description", 500), format: text("format", 40), usual: raw["default"]}
	f.kind, _ = raw["type"].(string)
	if f.kind == "" && len(options(raw)) > 0 {
		f.kind = "string"
	}
	f.pattern, _ = raw["pattern"].(string)
	if f.title == "" {
		f.title = mcp.Line(name, 100)
	}
	bound := func(keys ...string) *float64 {
		for _, key := range keys {
			if n, ok := raw[key].(float64); ok {
				return &n
			}
		}
		return nil
	}
	switch f.kind {
	case "boolean":
	case "number", "integer":
		f.least, f.most = bound("minimum"), bound("maximum")
	case "string":
		f.options = options(raw)
		f.least, f.most = bound("minLength"), bound("maxLength")
	case "array":
		items, _ := raw["items"].(map[string]any)
		f.options = options(items)
		f.least, f.most = bound("minItems"), bound("maxItems")
		if len(f.options) == 0 {
			return f, fmt.Errorf("the field %s is a list without choices", mcp.Line(name, 40))
		}
	default:
		return f, fmt.Errorf("the field %s has no plain type", mcp.Line(name, 40))
	}
	return f, nil
}

func list(v any) []any { l, _ := v.([]any); return l }

// options are the values of an enumeration, in each of the ways that the protocol has had.
func options(raw map[string]any) (out []option) {
	names := list(raw["enumNames"])
	for i, v := range list(raw["enum"]) {
		o := option{fmt.Sprint(v), fmt.Sprint(v)}
		if i < len(names) {
			o.label = fmt.Sprint(names[i])
		}
		out = append(out, o)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for _, v := range list(raw[key]) {
			if one, ok := v.(map[string]any); ok {
				o := option{fmt.Sprint(one["const"]), fmt.Sprint(one["const"])}
				if title, _ := one["title"].(string); title != "" {
					o.label = title
				}
				out = append(out, o)
			}
		}
	}
	for i := range out {
		out[i].label = mcp.Line(out[i].label, 100)
	}
	return out
}

// text is what a user reads of a field.
func (f field) text() string {
	text := f.title
	if f.note != "" {
		text += ": " + f.note
	}
	var more []string
	if f.format != "" {
		more = append(more, f.format)
	}
	if f.kind == "number" || f.kind == "integer" {
		more = append(more, "a "+strings.Replace(f.kind, "integer", "whole number", 1))
	}
	what := map[string]string{"string": " characters", "array": " of them"}[f.kind]
	if f.least != nil {
		more = append(more, fmt.Sprintf("at least %v%s", *f.least, what))
	}
	if f.most != nil {
		more = append(more, fmt.Sprintf("at most %v%s", *f.most, what))
	}
	if usual := f.readyDefault(); usual != "" {
		more = append(more, "default: "+mcp.Line(usual, 100))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	if f.kind == "array" || len(f.options) > maxChoices {
		labels := make([]string, 0, len(f.options))
		for _, o := range f.options[:min(len(f.options), 100)] {
			labels = append(labels, o.label)
		}
		text += "\none of: " + strings.Join(labels, ", ")
		if f.kind == "array" {
			text = strings.Replace(text, "\none of:", "\nsome of, with commas between them:", 1)
		}
	}
	return text
}

// choices are the ready answers.
func (f field) choices() (out []string) {
	switch {
	case f.kind == "boolean":
		out = []string{yes, no}
	case f.kind == "string" && len(f.options) > 0:
		for _, o := range f.options[:min(len(f.options), maxChoices)] {
			out = append(out, o.label)
		}
	}
	if usual := f.readyDefault(); usual != "" && !slices.Contains(out, usual) {
		out = append([]string{usual}, out...)
	}
	if !f.needed {
		out = append(out, without)
	}
	return out
}

// readyDefault is the ready answer that is the default; if empty, there is none, or it does not
// fit.
func (f field) readyDefault() string {
	switch usual := f.usual.(type) {
	case bool:
		if f.kind == "boolean" {
			return map[bool]string{true: yes, false: no}[usual]
		}
	case float64:
		if f.kind == "number" || f.kind == "integer" {
			return strconv.FormatFloat(usual, 'f', -1, 64)
		}
	case string:
		if f.kind != "string" || usual != strings.TrimSpace(usual) || usual != mcp.Line(usual, 200) {
			return ""
		}
		for _, o := range f.options {
			if o.value == usual {
				return o.label
			}
		}
		if len(f.options) == 0 {
			return usual
		}
	case []any:
		var labels []string
		for _, v := range usual {
			i := slices.IndexFunc(f.options, func(o option) bool { return o.value == fmt.Sprint(v) })
			if i < 0 {
				return ""
			}
			labels = append(labels, f.options[i].label)
		}
		if f.kind == "array" {
			return strings.Join(labels, ", ")
		}
	}
	return ""
}

// value makes of an answer what the server gets.
func (f field) value(said string) (value any, given bool, err error) {
	said = strings.TrimSpace(said)
	switch {
	case !f.needed && said == without:
		return nil, false, nil
	case said == f.readyDefault() && said != "":
		return f.usual, true, nil
	}
	switch f.kind {
	case "boolean":
		return truth(said)
	case "number", "integer":
		n, err := strconv.ParseFloat(said, 64)
		if err != nil || n != n || n > 1e15 || n < -1e15 || f.kind == "integer" && n != float64(int64(n)) {
			return nil, false, errors.New("it is no number that is wanted here")
		}
		return n, true, f.within(n)
	case "array":
		return f.several(said)
	}
	if len(f.options) > 0 {
		one, err := f.one(said)
		return one, true, err
	}
	return said, true, f.fits(said)
}

func truth(said string) (any, bool, error) {
	switch strings.ToLower(said) {
	case yes, "y", "true":
		return true, true, nil
	case no, "n", "false":
		return false, true, nil
	}
	return nil, false, errors.New("say yes or no")
}

func (f field) one(said string) (string, error) {
	for _, o := range f.options {
		if said == o.label || said == o.value {
			return o.value, nil
		}
	}
	return "", errors.New("it is none of the choices")
}

// several reads choices with commas between them; a choice may hold commas itself.
func (f field) several(said string) (any, bool, error) {
	values := []any{}
	for rest := strings.TrimSpace(said); rest != ""; {
		value, length := "", 0
		for _, o := range f.options {
			for _, word := range []string{o.label, o.value} {
				after, is := strings.CutPrefix(rest, word)
				if is && len(word) > length && (strings.TrimSpace(after) == "" || strings.HasPrefix(strings.TrimSpace(after), ",")) {
					value, length = o.value, len(word)
				}
			}
		}
		if length == 0 {
			return nil, false, errors.New("it is none of the choices")
		}
		if !slices.Contains(values, any(value)) {
			values = append(values, value)
		}
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest[length:]), ","))
	}
	return values, true, f.within(float64(len(values)))
}

func (f field) within(n float64) error {
	if f.least != nil && n < *f.least || f.most != nil && n > *f.most {
		return errors.New("it is too little or too much")
	}
	return nil
}

// fits holds a text to its bounds and its format.
func (f field) fits(said string) (err error) {
	switch f.format {
	case "email":
		_, err = mail.ParseAddress(said)
	case "uri":
		var u *url.URL
		if u, err = url.Parse(said); err == nil && u.Scheme == "" {
			err = errors.New("no scheme")
		}
	case "date":
		_, err = time.Parse(time.DateOnly, said)
	case "date-time":
		_, err = time.Parse(time.RFC3339, said)
	}
	if err != nil {
		return errors.New("it is no " + f.format)
	}
	if f.pattern != "" && len(f.pattern) < 1000 {
		if re, err := regexp.Compile(f.pattern); err == nil && !re.MatchString(said) {
			return errors.New("it has not the form that is wanted")
		}
	}
	return f.within(float64(utf8.RuneCountInString(said)))
}
