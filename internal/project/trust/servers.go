package trust

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"adze/internal/mcp"
)

// serverFiles lists the project files with MCP servers, each with its member.
func serverFiles() [][2]string {
	return [][2]string{
		{".adze/mcp.json", "mcpServers"}, {".mcp.json", "mcpServers"}, {".cursor/mcp.json", "mcpServers"},
		{".gemini/settings.json", "mcpServers"}, {".claude/settings.json", "mcpServers"}, {".vscode/mcp.json", "servers"},
		{"opencode.json", "mcp"}, {"opencode.jsonc", "mcp"},
	}
}

func servers(f folder) (out []Item) {
	for _, place := range serverFiles() {
		entries, err := f.entries(place[0], place[1])
		if err != nil {
			out = append(out, Item{ID: owner(place[0]), Source: place[0], Problem: err.Error()})
		}
		for id, entry := range entries {
			out = append(out, serverItem(place[0], id, entry))
		}
	}
	return out
}

// entries returns a JSON file's member by names. A boolean member has none.
func (f folder) entries(name, member string) (entries map[string]json.RawMessage, err error) {
	raw, err := f.standard(name)
	if raw == nil || err != nil {
		return nil, err
	}
	var file map[string]json.RawMessage
	if json.Unmarshal(raw, &file) != nil {
		return nil, errors.New("it is no JSON object")
	}
	if raw = file[member]; raw == nil || json.Unmarshal(raw, new(bool)) == nil {
		return nil, nil
	}
	if json.Unmarshal(raw, &entries) != nil {
		return nil, errors.New(member + " is not an object")
	}
	return entries, nil
}

// variables lists the ${NAME} variables in an entry. The user should see them: they may hold
// secrets.
func variables(raw []byte) (names []string) {
	for _, found := range regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}`).FindAllSubmatch(raw, -1) {
		name := string(found[1])
		if !slices.Contains(names, name) && name != "workspaceFolder" && name != "userHome" {
			names = append(names, name)
		}
	}
	return names
}

func serverItem(file, id string, raw json.RawMessage) Item {
	s, _, err := mcp.Read(id, raw)
	i := Item{ID: id, Source: file, Trigger: "its tools are asked for", Raw: raw, Cwd: s.Dir, Env: slices.Sorted(maps.Keys(s.Env)), Argv: s.Command, URL: s.URL}
	if err != nil {
		i.Problem = err.Error()
		return i
	}
	if names := variables(raw); len(names) > 0 {
		i.Definition = "it is given variables of yours: " + strings.Join(names, ", ")
	}
	return i
}

// SuppliedServer returns the item for a server supplied by another program, such as the user's
// editor, for one session. It needs the same consent as a project's server. entry has the format of
// the files.
func (p Project) SuppliedServer(by, name string, entry []byte) (Item, error) {
	i := serverItem("the "+by, Server+":"+name+"@"+by, entry)
	if i.Kind = Server; i.Problem == "" {
		p.pin(&i)
	}
	allowed, err := p.allowed()
	i.State = p.state(i, allowed)
	return i, err
}
