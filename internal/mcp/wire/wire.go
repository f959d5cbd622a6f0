// Package wire changes messages of an MCP server before the library reads them, where the library
// would lose or refuse what a user needs: the order of a form's fields, the good tools and parts of
// an answer beside one that cannot be read, and the numbers of a structured answer.
//
// The one rule: a message that needs no change passes as it came, byte for byte.
//
// Start reading at Read; long.go answers a request whose own answer is too long to be read.
//
// Known limits: batches of messages, which the protocol had until 2025-06-18, pass unchanged.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Names under which the library passes on what it has no place for.
const (
	// Bad in the _meta of a tool holds why the server's own words for it could not be read.
	Bad = "adze/bad"
	// Schema in a requested schema holds the schema as it came, as a text: so its order is kept,
	// and the library does not judge what the user is asked.
	Schema = "adze/schema"
)

// message is one as far as it is looked at.
type message map[string]json.RawMessage

// Read returns a message of a server as the library gets it.
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
		changed = m.change("params", hideSchema) || m.change("result", func(result message) bool { // of an unfinished result
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

// keepAnswer has the structured answer of a tool pass as the text that it came as: the library
// would round its numbers. A part of its content that the library cannot read becomes a text that
// says so, beside the others.
func keepAnswer(result message) (changed bool) {
	if raw := result["structuredContent"]; raw != nil && string(raw) != "null" {
		result["structuredContent"], changed = encode(string(raw)), true
	}
	var parts []json.RawMessage
	_ = json.Unmarshal(result["content"], &parts) // then there are none
	for i, part := range parts {
		if err := json.Unmarshal(encode(message{"content": encode(parts[i : i+1])}), new(sdk.CallToolResult)); err != nil {
			var of struct{ Type any }
			_ = json.Unmarshal(part, &of) // then it has none
			parts[i] = encode(map[string]string{"type": "text", "text": fmt.Sprintf("(a part of type %.40q cannot be read: %.200s)", fmt.Sprint(of.Type), err)})
			result["content"], changed = encode(parts), true
		}
	}
	return changed
}

// encode returns a value that came as JSON as JSON again.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it came as JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// change changes a member that is an object and reports whether it did.
func (m message) change(name string, change func(message) bool) bool {
	var inner message
	if json.Unmarshal(m[name], &inner) != nil || inner == nil || !change(inner) {
		return false
	}
	m[name] = encode(inner)
	return true
}

// hideSchema puts the schema of a form where its order is kept.
func hideSchema(params message) bool {
	schema := params["requestedSchema"]
	if len(schema) == 0 || schema[0] != '{' {
		return false
	}
	params["requestedSchema"] = encode(map[string]any{"type": "object", Schema: string(schema)})
	return true
}

// replaceBadTools replaces tools that the library cannot read: one such tool would take all others
// with it.
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

// standIn is the n-th tool of a list without what cannot be read, and with the reason.
func standIn(tool json.RawMessage, n int, why error) json.RawMessage {
	var named struct{ Name any }
	_ = json.Unmarshal(tool, &named) // then it has none
	name, _ := named.Name.(string)
	if name == "" {
		name = fmt.Sprintf("tool-%d", n+1)
	}
	return encode(map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}, "_meta": map[string]any{Bad: "it cannot be read: " + why.Error()}})
}
