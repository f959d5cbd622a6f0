package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAServerIsKeptBesideAllElse: comments stay, one of its name is replaced, and it can be taken
// out again.
func TestAServerIsKeptBesideAllElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte("{\n  // mine\n  \"mcp\": {\"servers\": {\"a.b\": {\"command\": \"x\"}}}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]MCPServer{"a.b": {URL: "https://a.example/mcp"}, "c": {Command: "y", Args: []string{"z"}}} {
		if err := KeepServer(path, name, s); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(path)
	if err != nil || len(c.MCP.Servers) != 2 || c.MCP.Servers["a.b"].URL == "" || c.MCP.Servers["a.b"].Command != "" {
		t.Errorf("%+v %v", c.MCP, err)
	}
	if raw, _ := os.ReadFile(path); !strings.Contains(string(raw), "// mine") {
		t.Errorf("%s", raw)
	}
	if was, err := DropServer(path, "a.b"); !was || err != nil {
		t.Error(was, err)
	}
	if was, err := DropServer(path, "a.b"); was || err != nil {
		t.Error(was, err)
	}
}

func TestAServerThatCannotBeUsedIsAMistake(t *testing.T) {
	for text, want := range map[string]string{
		`{"x": {}}`: "neither", `{"x": {"command": "a", "url": "b"}}`: "a command and a url", `{"1x": {"command": "a"}}`: "a name is",
		`{"x y": {"command": "a"}}`: "a name is", `{"x": {"command": "a", "type": "pigeon"}}`: "no type",
	} {
		if _, err := Parse("f", []byte(`{"mcp": {"servers": `+text+`}}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
