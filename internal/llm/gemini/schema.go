package gemini

import (
	"bytes"
	"encoding/json"
	"slices"

	"adze/internal/llm/wire"
)

// withOrder adds the order of its properties to a schema, which the server does not keep: a model
// should write the path before the file's content. It returns nil for a function without
// parameters.
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
