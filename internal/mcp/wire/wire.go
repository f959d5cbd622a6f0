// Package wire changes messages between an MCP server and the library that speaks with it, where
// the library has no place for a part of the protocol: tasks, the order of the fields of a form,
// answers that are too long, a tool that it cannot read.
//
// The one rule: a message that needs no change passes as it came, byte for byte; of one that is
// changed, the library and the server each see a valid message of the protocol.
//
// Start reading at Filter; cut.go shortens a message that is too long.
//
// Source of the rules: Model Context Protocol 2025-11-25, basic/utilities/tasks and
// client/elicitation.
//
// Known limits: batches of messages, which the protocol had until 2025-06-18, pass unchanged.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Names under which the filter hands over what the library does not know.
const (
	// Raw in the _meta of a call of a tool holds a [Request] that is sent instead. Its result comes
	// as structured content.
	Raw = "adze/raw"
	// Tasks in the experimental capabilities of a server holds what it says of tasks.
	Tasks = "adze/tasks"
	// TaskSupport in the _meta of a tool holds whether it runs as a task: forbidden, optional or
	// required.
	TaskSupport = "adze/taskSupport"
	// Bad in the _meta of a tool holds why the server's own words for it could not be read.
	Bad = "adze/bad"
	// Schema in a requested schema holds the schema as it came, as a text: so its order is kept,
	// and the library does not judge what the user is asked.
	Schema = "adze/schema"
)

// Request is a request that the library does not know.
type Request struct {
	Method string `json:"method"`
	Params any    `json:"params,omitempty"`
}

// Filter changes the messages of one conversation. The zero value is ready; it is safe for
// concurrent use.
type Filter struct {
	mu  sync.Mutex
	raw map[string]bool // ids of raw requests without an answer
}

// message is one as far as it is looked at.
type message map[string]json.RawMessage

// Out changes a message to the server.
func (f *Filter) Out(text []byte) []byte {
	if !bytes.Contains(text, []byte(`"`+Raw+`"`)) {
		return text
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	var r struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params,omitempty"`
	}
	if json.Unmarshal(text, &m) != nil || json.Unmarshal(m.Params.Meta[Raw], &r) != nil || r.Method == "" {
		return text
	}
	out, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params,omitempty"`
	}{"2.0", m.ID, r.Method, r.Params})
	if err != nil {
		return text
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.raw == nil {
		f.raw = map[string]bool{}
	}
	f.raw[string(m.ID)] = true
	if bytes.HasSuffix(text, []byte("\n")) {
		out = append(out, '\n')
	}
	return out
}

// In changes a message of the server.
func (f *Filter) In(text []byte) []byte {
	f.mu.Lock()
	waits := len(f.raw) > 0
	f.mu.Unlock()
	form := bytes.Contains(text, []byte(`"requestedSchema"`))
	tasks := bytes.Contains(text, []byte(`"tasks"`)) || bytes.Contains(text, []byte(`"tools"`))
	if !waits && !form && !tasks {
		return text
	}
	var m message
	if json.Unmarshal(text, &m) != nil {
		return text
	}
	changed := waits && f.unwrap(m)
	if !changed {
		if form {
			changed = m.within("params", hideSchema) || m.within("result", hideSchemas)
		}
		if tasks {
			changed = m.within("result", showTasks) || changed
		}
	}
	if !changed {
		return text
	}
	out, err := json.Marshal(m)
	if err != nil {
		return text
	}
	return out
}

// unwrap makes the answer to a raw request one that the library takes.
func (f *Filter) unwrap(m message) bool {
	id := string(m["id"])
	_, asks := m["method"]
	f.mu.Lock()
	ours := !asks && f.raw[id]
	delete(f.raw, id)
	f.mu.Unlock()
	if !ours || m["result"] == nil {
		return false
	}
	m["result"], _ = json.Marshal(map[string]any{"content": []any{}, "structuredContent": m["result"]}) // it is valid JSON
	return true
}

// within has a member that is an object changed.
func (m message) within(name string, change func(message) bool) bool {
	if len(m[name]) == 0 {
		return false
	}
	var inner message
	if json.Unmarshal(m[name], &inner) != nil || inner == nil || !change(inner) {
		return false
	}
	raw, err := json.Marshal(inner)
	if err != nil {
		return false
	}
	m[name] = raw
	return true
}

// hideSchema puts the schema of a form where its order is kept.
func hideSchema(params message) bool {
	schema := params["requestedSchema"]
	if len(schema) == 0 || schema[0] != '{' {
		return false
	}
	params["requestedSchema"], _ = json.Marshal(map[string]any{"type": "object", Schema: string(schema)}) // texts always encode
	return true
}

// hideSchemas does so for forms that a result asks for.
func hideSchemas(result message) bool {
	return result.within("inputRequests", func(all message) (changed bool) {
		for name := range all {
			changed = all.within(name, func(one message) bool { return one.within("params", hideSchema) }) || changed
		}
		return changed
	})
}

// showTasks hands over what a server, or its tools, say of tasks.
func showTasks(result message) bool {
	changed := result.within("capabilities", func(all message) bool {
		tasks, ok := all["tasks"]
		if !ok {
			return false
		}
		if len(all["experimental"]) == 0 {
			all["experimental"] = json.RawMessage("{}")
		}
		return all.within("experimental", func(x message) bool { x[Tasks] = tasks; return true })
	})
	var tools []json.RawMessage
	if json.Unmarshal(result["tools"], &tools) != nil {
		return changed
	}
	some := false
	for i, raw := range tools {
		tool := message{"tool": raw}
		if err := readable(raw); err != nil {
			tools[i], some = instead(raw, i, err), true
		} else if tool.within("tool", showSupport) {
			tools[i], some = tool["tool"], true
		}
	}
	if some {
		if raw, err := json.Marshal(tools); err == nil {
			result["tools"], changed = raw, true
		}
	}
	return changed
}

// readable says why the library could not read a tool: one such tool would take all others with it.
func readable(tool json.RawMessage) error {
	var t *sdk.Tool
	if err := json.Unmarshal(tool, &t); err != nil {
		return err
	}
	if t == nil || t.Name == "" {
		return errors.New("it has no name")
	}
	return nil
}

// instead is a tool in the place of one that cannot be read, with the reason.
func instead(tool json.RawMessage, n int, why error) json.RawMessage {
	var named struct{ Name any }
	_ = json.Unmarshal(tool, &named) // then it has none
	name, _ := named.Name.(string)
	if name == "" {
		name = fmt.Sprintf("tool-%d", n+1)
	}
	out, _ := json.Marshal(map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}, "_meta": map[string]any{Bad: "it cannot be read: " + why.Error()}}) // texts always encode
	return out
}

func showSupport(tool message) bool {
	var execution struct {
		TaskSupport string `json:"taskSupport"`
	}
	if json.Unmarshal(tool["execution"], &execution) != nil || execution.TaskSupport == "" {
		return false
	}
	if len(tool["_meta"]) == 0 {
		tool["_meta"] = json.RawMessage("{}")
	}
	return tool.within("_meta", func(meta message) bool {
		meta[TaskSupport], _ = json.Marshal(execution.TaskSupport)
		return true
	})
}
