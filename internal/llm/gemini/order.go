package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
)

// orderKey holds the names of properties in the order in which a schema gives them; no property has
// such a name. The API takes it as propertyOrdering: a model that writes a path before a file's
// content knows by then what it writes.
const orderKey = "\x00order"

// ordered reads a schema with the order of its properties.
func ordered(schema json.RawMessage) (node, bool) {
	value, err := decode(json.NewDecoder(bytes.NewReader(schema)), false)
	root, ok := value.(node)
	return root, ok && err == nil
}

// decode reads one value; named says that it is the properties of a schema.
func decode(d *json.Decoder, named bool) (any, error) {
	token, err := d.Token()
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decode(d, false)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		return object(d, named)
	}
	return token, err
}

func object(d *json.Decoder, named bool) (any, error) {
	out := node{}
	var order []any
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // a key is nothing else
		var v any
		switch key {
		case "default", "example", "enum", "const":
			if !named { // a value, in which nothing is a schema
				err = d.Decode(&v)
				break
			}
			fallthrough
		default:
			v, err = decode(d, key == "properties" && !named)
		}
		if err != nil {
			return nil, err
		}
		if _, again := out[key]; !again {
			order = append(order, key)
		}
		out[key] = v
	}
	if named {
		out[orderKey] = order
	}
	_, err := d.Token()
	return out, err
}

// orderOf is the order of those properties that exist; what parts of a schema added to others comes
// last.
func orderOf(properties, exist node) []any {
	known, _ := properties[orderKey].([]any)
	var out, rest []any
	for _, name := range known {
		if s, ok := name.(string); ok && exist[s] != nil {
			out = append(out, name)
		}
	}
	for name := range exist {
		if !slices.Contains(out, any(name)) {
			rest = append(rest, name)
		}
	}
	slices.SortFunc(rest, func(a, b any) int {
		if a.(string) < b.(string) {
			return -1
		}
		return 1
	})
	return append(out, rest...)
}
