package trust

import (
	"encoding/json"
	"errors"
)

// serverFiles are where projects name MCP servers, with the name of the member that holds them.
func serverFiles() [][2]string {
	return [][2]string{
		{".adze/mcp.json", "mcpServers"}, {".mcp.json", "mcpServers"}, {".cursor/mcp.json", "mcpServers"},
		{".gemini/settings.json", "mcpServers"}, {".claude/settings.json", "mcpServers"}, {".vscode/mcp.json", "servers"},
		{"opencode.json", "mcp"}, {"opencode.jsonc", "mcp"},
	}
}

// server is the entry of one server; command is a text or a whole argument vector.
type server struct {
	Command     any            `json:"command"`
	Args        []string       `json:"args"`
	Env         map[string]any `json:"env"`
	Environment map[string]any `json:"environment"`
	Cwd         string         `json:"cwd"`
	URL         string         `json:"url"`
	HTTPURL     string         `json:"httpUrl"`
}

// servers finds MCP servers that a project wants to be started or dialled.
func servers(f folder) (out []Item) {
	for _, place := range serverFiles() {
		name := place[0]
		raw, err := f.standard(name)
		if raw == nil && err == nil {
			continue
		}
		var file map[string]json.RawMessage
		var entries map[string]json.RawMessage
		if err == nil && json.Unmarshal(raw, &file) != nil {
			err = errors.New("it is no JSON object")
		}
		if err == nil && file[place[1]] != nil && json.Unmarshal(file[place[1]], &entries) != nil {
			err = errors.New("its " + place[1] + " is no object")
		}
		if err != nil {
			out = append(out, Item{ID: owner(name), From: name, Problem: err.Error()})
		}
		for id, entry := range entries {
			out = append(out, serverItem(name, id, entry))
		}
	}
	return out
}

func serverItem(file, id string, raw json.RawMessage) Item {
	var s server
	i := Item{ID: id, From: file, When: "its tools are asked for", Raw: raw}
	if json.Unmarshal(raw, &s) != nil {
		i.Problem = "it is no server that adze can read"
		return i
	}
	i.Cwd, i.Env = s.Cwd, sortedKeys(s.Env)
	i.Env = append(i.Env, sortedKeys(s.Environment)...)
	switch c := s.Command.(type) {
	case string:
		i.Argv = append([]string{c}, s.Args...)
	case []any:
		for _, word := range c {
			text, _ := word.(string)
			i.Argv = append(i.Argv, text)
		}
	}
	if len(i.Argv) == 0 {
		if i.URL = s.URL; i.URL == "" {
			i.URL = s.HTTPURL
		}
	}
	if len(i.Argv) == 0 && i.URL == "" {
		i.Problem = "it names neither a command nor an address"
	}
	return i
}
