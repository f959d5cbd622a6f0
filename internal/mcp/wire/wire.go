// Package wire changes an MCP server's messages before the library reads them, where the library
// would lose or refuse useful parts: the order of a form's fields, valid tools or content beside an
// invalid one, and numbers in structured results.
//
// The one rule: a message that needs no change passes byte for byte.
//
// Start reading at Read; long.go answers a request whose response is too long.
//
// Known limits: batches, which the protocol had until 2025-06-18, pass unchanged.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Names of added members that the library passes on.
const (
	// Bad, in a tool's _meta, holds the error in its original definition.
	Bad = "adze/bad"
	// Schema, in a requested schema, holds the original schema as a string: this keeps its order
	// and avoids the library's checks.
	Schema = "adze/schema"
)

type message map[string]json.RawMessage

// Read returns a server's message in a form for the library.
func Read(text []byte) []byte {
	form := bytes.Contains(text, []byte(`"requestedSchema"`))
	tools := bytes.Contains(text, []byte(`"tools"`))
	answer := bytes.Contains(text, []byte(`"content"`)) || bytes.Contains(text, []byte(`"structuredContent"`))
	if !form && !tools && !answer {
		return text
	}
	var m message
	if json.Unmarshal(text, &m) != nil {
		return text
	}
	changed := false
	if form {
		changed = m.change("params", hideSchema) || m.change("result", func(result message) bool { // of an incomplete result
			return result.change("inputRequests", func(all message) (changed bool) {
				for name := range all {
					changed = all.change(name, func(one message) bool { return one.change("params", hideSchema) }) || changed
				}
				return changed
			})
		})
	}
	if tools {
		changed = m.change("result", replaceBadTools) || changed
	}
	if answer {
		changed = m.change("result", keepAnswer) || changed
	}
	if !changed {
		return text
	}
	return encode(m)
}

// keepAnswer passes a tool's structured result as a string, because the library would round its
// numbers. It replaces content that the library cannot read with a text that says so.
func keepAnswer(result message) (changed bool) {
	if raw := result["structuredContent"]; raw != nil && string(raw) != "null" {
		result["structuredContent"], changed = encode(string(raw)), true
	}
	var parts []json.RawMessage
	_ = json.Unmarshal(result["content"], &parts) // none on an error
	for i, part := range parts {
		if err := json.Unmarshal(encode(message{"content": encode(parts[i : i+1])}), new(sdk.CallToolResult)); err != nil {
			var of struct{ Type any }
			_ = json.Unmarshal(part, &of) // none on an error
			parts[i] = encode(map[string]string{"type": "text", "text": fmt.Sprintf("(a part of type %.40q cannot be read: %.200s)", fmt.Sprint(of.Type), err)})
			result["content"], changed = encode(parts), true
		}
	}
	return changed
}

// encode encodes a value that was decoded from JSON.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // decoded from JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// change changes an object member and reports whether it did.
func (m message) change(name string, change func(message) bool) bool {
	var inner message
	if json.Unmarshal(m[name], &inner) != nil || inner == nil || !change(inner) {
		return false
	}
	m[name] = encode(inner)
	return true
}

// hideSchema moves a form's schema into a string.
func hideSchema(params message) bool {
	schema := params["requestedSchema"]
	if len(schema) == 0 || schema[0] != '{' {
		return false
	}
	params["requestedSchema"] = encode(map[string]any{"type": "object", Schema: string(schema)})
	return true
}

// replaceBadTools replaces tools that the library cannot read: one such tool would make the whole
// list fail.
func replaceBadTools(result message) (changed bool) {
	var tools []json.RawMessage
	if json.Unmarshal(result["tools"], &tools) != nil {
		return false
	}
	for i, raw := range tools {
		var t *sdk.Tool
		err := json.Unmarshal(raw, &t)
		if err == nil && (t == nil || t.Name == "") {
			err = errors.New("it has no name")
		}
		if err != nil {
			tools[i], changed = standIn(raw, i, err), true
		}
	}
	if changed {
		result["tools"] = encode(tools)
	}
	return changed
}

// standIn returns a replacement for the n-th tool, with the reason.
func standIn(tool json.RawMessage, n int, why error) json.RawMessage {
	var named struct{ Name any }
	_ = json.Unmarshal(tool, &named) // none on an error
	name, _ := named.Name.(string)
	if name == "" {
		name = fmt.Sprintf("tool-%d", n+1)
	}
	return encode(map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}, "_meta": map[string]any{Bad: "it cannot be read: " + why.Error()}})
}
