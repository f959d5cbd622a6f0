package laxjson

import (
	"adze/internal/text/jsontext"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Tree is a JSON value for repairs: names in written order with duplicates, and exact numbers.
type Tree struct {
	Kind  Kind
	Text  string   // decoded string, or a number's or literal's JSON text
	Names []string // of an object, one for each item
	Items []*Tree  // of an object or array
}

// Kind is a Tree's kind.
type Kind int

const (
	Literal Kind = iota // true, false, null
	Number
	String
	Array
	Object
)

// Type returns the JSON type, as schema.TypeOf names it.
func (t *Tree) Type() string {
	switch t.Kind {
	case Number:
		if f, err := strconv.ParseFloat(t.Text, 64); err == nil && f == math.Trunc(f) {
			return "integer"
		}
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	if t.Text == "null" {
		return "null"
	}
	return "boolean"
}

// Null reports whether it is null.
func (t *Tree) Null() bool { return t.Kind == Literal && t.Text == "null" }

// Empty reports whether a value is null, "", [] or {}.
func (t *Tree) Empty() bool {
	return t.Null() || t.Kind == String && t.Text == "" || t.Kind >= Array && len(t.Items) == 0
}

// Has reports whether an object has a property.
func (t *Tree) Has(name string) bool { return slices.Contains(t.Names, name) }

// String writes the value as JSON without spaces.
func (t *Tree) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *Tree) write(b *strings.Builder) {
	switch t.Kind {
	case String:
		b.WriteString(Quote(t.Text))
	case Array:
		b.WriteByte('[')
		for i, item := range t.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case Object:
		b.WriteByte('{')
		for i, item := range t.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(Quote(t.Names[i]) + ":")
			item.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(t.Text)
	}
}

// IsNumber reports whether a text is a number exactly as JSON writes it.
func IsNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && s[len(s)-1] > ' ' && json.Valid([]byte(s))
}

// Value returns the tree as encoding/json decodes it; false for a number beyond any float.
func (t *Tree) Value() (v any, ok bool) {
	err := json.Unmarshal([]byte(t.String()), &v)
	return v, err == nil
}

// Of returns the tree for a value that encoding/json can write, else null.
func Of(v any) *Tree {
	raw, err := json.Marshal(v)
	if err != nil {
		return &Tree{Text: "null"}
	}
	var did Steps
	t, ok := Read(string(raw), &did)
	if !ok {
		return &Tree{Text: "null"}
	}
	return t
}

// Quote returns a text as JSON and keeps < > & readable, since models see these bytes.
func Quote(s string) string {
	special := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	if strings.IndexFunc(s, special) < 0 {
		return `"` + s + `"`
	}
	quoted, _ := jsontext.Marshal(s)
	return string(quoted)
}

// Child returns an object's property by name, or nil.
func (t *Tree) Child(name string) *Tree {
	if i := slices.Index(t.Names, name); i >= 0 {
		return t.Items[i]
	}
	return nil
}
