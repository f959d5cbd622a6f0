package tool

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// tree is a JSON value as a repair sees it: names in the order in which they were written, also those that
// were written twice, and numbers digit by digit.
type tree struct {
	kind  treeKind
	text  string   // of a string, decoded; of a number or a literal, as JSON writes it
	names []string // of an object, one for each item
	items []*tree  // of an object or array
}

type treeKind int

const (
	literalTree treeKind = iota // true, false, null
	numberTree
	stringTree
	arrayTree
	objectTree
)

// typeName is the JSON type, as typeOf names it.
func (t *tree) typeName() string {
	switch t.kind {
	case numberTree:
		if f, err := strconv.ParseFloat(t.text, 64); err == nil && f == math.Trunc(f) {
			return "integer"
		}
		return "number"
	case stringTree:
		return "string"
	case arrayTree:
		return "array"
	case objectTree:
		return "object"
	}
	if t.text == "null" {
		return "null"
	}
	return "boolean"
}

func (t *tree) isNull() bool { return t.kind == literalTree && t.text == "null" }

// empty reports whether a value says nothing: null, "", [] or {}. False says something.
func (t *tree) empty() bool {
	return t.isNull() || t.kind == stringTree && t.text == "" || t.kind >= arrayTree && len(t.items) == 0
}

func (t *tree) has(name string) bool { return slices.Contains(t.names, name) }

// String writes the value as JSON without spaces.
func (t *tree) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *tree) write(b *strings.Builder) {
	switch t.kind {
	case stringTree:
		b.WriteString(quoteJSON(t.text))
	case arrayTree:
		b.WriteByte('[')
		for i, item := range t.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case objectTree:
		b.WriteByte('{')
		for i, item := range t.items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoteJSON(t.names[i]) + ":")
			item.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(t.text)
	}
}

// numberLiteral reports whether a text is a number exactly as JSON writes it.
func numberLiteral(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && s[len(s)-1] > ' ' && json.Valid([]byte(s))
}

// value is the tree as encoding/json decodes it; false where it holds a number beyond any float.
func (t *tree) value() (v any, ok bool) {
	err := json.Unmarshal([]byte(t.String()), &v)
	return v, err == nil
}

func treeOf(v any) *tree {
	raw, err := json.Marshal(v)
	if err != nil {
		return &tree{text: "null"}
	}
	var did steps
	t, ok := readLoosely(string(raw), &did)
	if !ok {
		return &tree{text: "null"}
	}
	return t
}

// quoteJSON keeps < > & readable: models see these bytes.
func quoteJSON(s string) string {
	special := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	if strings.IndexFunc(s, special) < 0 {
		return `"` + s + `"`
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

func (t *tree) child(name string) *tree {
	if i := slices.Index(t.names, name); i >= 0 {
		return t.items[i]
	}
	return nil
}

func (t *tree) set(name string, value *tree) {
	t.remove(name)
	t.names, t.items = append(t.names, name), append(t.items, value)
}

func (t *tree) remove(name string) {
	if i := slices.Index(t.names, name); i >= 0 {
		t.names, t.items = slices.Delete(t.names, i, i+1), slices.Delete(t.items, i, i+1)
	}
}
