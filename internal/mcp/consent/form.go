package consent

import (
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/mcp"
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
	usual             any      // nil: none
}

// option is a value with the words that a person is shown for it.
type option struct{ value, label string }

// fieldsOf reads the schema of a form: an object of plain values (elicitation, "Requested schema").
func fieldsOf(schema any) ([]field, error) {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	if len(properties) > maxFields {
		return nil, fmt.Errorf("it has %d fields, at most %d are asked for", len(properties), maxFields)
	}
	var needed []string
	for _, name := range list(s["required"]) {
		needed = append(needed, fmt.Sprint(name))
	}
	var out []field
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		raw, _ := properties[name].(map[string]any)
		f, err := fieldOf(name, raw)
		if err != nil {
			return nil, err
		}
		f.needed = slices.Contains(needed, name)
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b field) int {
		switch {
		case a.needed == b.needed:
			return 0
		case a.needed:
			return -1
		}
		return 1
	})
	return out, nil
}

func fieldOf(name string, raw map[string]any) (field, error) {
	text := func(key string, most int) string { s, _ := raw[key].(string); return mcp.Line(s, most) }
	f := field{name: name, title: text("title", 100), note: text("description", 500), format: text("format", 40), usual: raw["default"]}
	f.kind, _ = raw["type"].(string)
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

// text is what a person reads of a field.
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
	if f.usual != nil {
		more = append(more, "usually "+mcp.Line(fmt.Sprint(f.usual), 100))
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
	if !f.needed {
		out = append(out, without)
	}
	return out
}

// value makes of an answer what the server gets.
func (f field) value(said string) (value any, given bool, err error) {
	said = strings.TrimSpace(said)
	if !f.needed && said == without {
		return f.usual, f.usual != nil, nil
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

func (f field) several(said string) (any, bool, error) {
	values := []any{}
	for part := range strings.SplitSeq(said, ",") {
		one, err := f.one(strings.TrimSpace(part))
		if err != nil {
			return nil, false, err
		}
		if !slices.Contains(values, any(one)) {
			values = append(values, one)
		}
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
