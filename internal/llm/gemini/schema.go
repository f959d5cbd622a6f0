package gemini

import (
	"bytes"
	"encoding/json"
	"slices"

	"adze/internal/llm/wire"
)

// withOrder is a schema with the order of its properties, which the server does not keep by itself:
// a model that writes a path before a file's content knows by then what it writes. It is nil for a
// function without parameters.
func withOrder(schema json.RawMessage) json.RawMessage {
	var root struct {
		Properties json.RawMessage `json:"properties"`
		Order      json.RawMessage `json:"propertyOrdering"`
	}
	if json.Unmarshal(schema, &root) != nil || len(root.Properties) == 0 {
		return nil
	}
	var order []any
	d := json.NewDecoder(bytes.NewReader(root.Properties))
	_, err := d.Token()
	for err == nil && d.More() {
		var name json.Token
		if name, err = d.Token(); err == nil {
			order = append(order, name)
			err = d.Decode(&json.RawMessage{})
		}
	}
	switch {
	case len(order) == 0:
		return nil
	case len(order) == 1 || root.Order != nil:
		return schema
	}
	end := bytes.LastIndexByte(schema, '}')
	return slices.Concat(schema[:end], []byte(`,"propertyOrdering":`), wire.JSON(order), []byte("}"))
}
