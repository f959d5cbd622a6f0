package clients

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adze/internal/mcp"
)

// TestTheServersOfOtherAssistantsAreFound, each as its assistant writes it down.
func TestTheServersOfOtherAssistantsAreFound(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".claude.json": `{"numStartups": 3, "mcpServers": {"files": {"type": "stdio", "command": "npx", "args": ["-y", "server-files", "/data"], "env": {"A": "1"}}},
			"projects": {"/w": {"mcpServers": {"here": {"type": "sse", "url": "https://a.example/sse"}}}, "/other": {"mcpServers": {"elsewhere": {"command": "x"}}}}}`,
		".config/Claude/claude_desktop_config.json": `{"mcpServers": {"my server!": {"command": "uvx", "args": ["one"]}}}`,
		".cursor/mcp.json":                          `{"mcpServers": {"far": {"url": "https://b.example/mcp", "headers": {"X-Key": "${env:KEY}"}}}}`,
		".config/Code/User/mcp.json":                "{\n // mine\n \"inputs\": [], \"servers\": {\"code\": {\"type\": \"http\", \"url\": \"https://c.example\"}, \"asks\": {\"command\": \"x\", \"env\": {\"K\": \"${input:key}\"}},}}",
		".codex/config.toml": "model = \"x\" # a comment\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\n  \"-y\", # first\n  'docs-server',\n]\nstartup_timeout_sec = 20\nenabled = false\n\n" +
			"[mcp_servers.docs.env]\n\"TOKEN\" = \"a \\\"b\\\" \\u00e9\"\n[mcp_servers.\"web\"]\nurl = \"https://d.example/mcp\"\nbearer_token_env_var = \"D_TOKEN\"\nhttp_headers = { \"X-A\" = \"1\", X-B = \"2\" }\n[[profiles]]\nname = \"p\"\n",
		".gemini/settings.json":              `{"theme": "x", "mcpServers": {"g": {"httpUrl": "https://e.example/mcp", "timeout": 5000, "excludeTools": ["rm"]}}}`,
		".config/opencode/opencode.json":     `{"mcp": {"o": {"type": "local", "command": ["bun", "x"], "environment": {"E": "2"}, "enabled": false}}}`,
		".config/zed/settings.json":          `{"context_servers": {"z": {"source": "custom", "command": {"path": "zs", "args": ["-v"], "env": {"Z": "3"}}}, "ext": {"settings": {}}}}`,
		".codeium/windsurf/mcp_config.json":  `{"mcpServers": {"w": {"serverUrl": "https://f.example/mcp"}}}`,
		"Library/Application Support/x/none": "",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range Find(home, func(string) string { return "" }, "/w") {
		line := fmt.Sprintf("%s %s %q %s env=%q headers=%q", f.Client, f.Name, f.Command, f.URL, slices.Sorted(maps.Keys(f.Env)), f.Headers)
		if f.SSE {
			line += " sse"
		}
		if f.Disabled {
			line += " off"
		}
		if f.Start+f.Call > 0 || len(f.Tools) > 0 {
			line += fmt.Sprint(" ", f.Start, " ", f.Call, " ", f.Tools)
		}
		if f.Problem != "" {
			line += " !" + f.Problem[:min(len(f.Problem), 20)]
		}
		got = append(got, line)
	}
	want := []string{
		`claude files ["npx" "-y" "server-files" "/data"]  env=["A"] headers=map[]`,
		`claude here [] https://a.example/sse env=[] headers=map[] sse`,
		`claude-desktop my-server ["uvx" "one"]  env=[] headers=map[]`,
		`cursor far [] https://b.example/mcp env=[] headers=map["X-Key":"${env:KEY}"]`,
		`vscode asks ["x"]  env=["K"] headers=map[] !it names ${input:…`,
		`vscode code [] https://c.example env=[] headers=map[]`,
		`codex docs ["npx" "-y" "docs-server"]  env=["TOKEN"] headers=map[] off 20s 0s []`,
		`codex web [] https://d.example/mcp env=[] headers=map["Authorization":"Bearer ${D_TOKEN}" "X-A":"1" "X-B":"2"]`,
		`gemini g [] https://e.example/mcp env=[] headers=map[] 0s 5s [!rm]`,
		`opencode o ["bun" "x"]  env=["E"] headers=map[] off`,
		`zed ext []  env=[] headers=map[] !it names neither a c`,
		`zed z ["zs" "-v"]  env=["Z"] headers=map[]`,
		`windsurf w [] https://f.example/mcp env=[] headers=map[]`,
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("%s\n\nnot\n\n%s", a, b)
	}
}

// TestServersOfALinkedWorkTree are those of the main one for claude-code 2.1.332, which names a
// repository by it.
func TestServersOfALinkedWorkTree(t *testing.T) {
	home, main, linked := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(home, ".claude.json"): `{"projects": {` + strconv.Quote(main) + `: {"mcpServers": {"here": {"command": "x"}}}}}`,
		filepath.Join(linked, ".git"):       "gitdir: " + main + "/.git/worktrees/w\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for top, want := range map[string]int{main: 1, linked: 1, home: 0, "": 0} {
		if got := Find(home, func(string) string { return "" }, top); len(got) != want {
			t.Errorf("%s: %v", top, got)
		}
	}
}

// codex 0.171.0: ${A} in args stays as it is, env_vars are passed on. gemini-cli 0.61.0: $A and
// ${U:-d} are filled in, httpUrl wins over url. opencode 1.18.33: {env:A} is filled in, empty where
// it is not set, and ${A} stays. claude-code 2.1.332: ${A} and ${A:-d} are filled in.
func TestVariablesAreTakenOverAsTheirAssistantReadsThem(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".codex/config.toml":             "[mcp_servers.x]\ncommand = \"x\"\nargs = [\"${A}\", \"$A\"]\nenv_vars = [\"A\", \"U\"]\nstartup_timeout_sec = 2.5\n[mcp_servers.x.env]\nP = 1000000\n[mcp_servers.\"!!\"]\ncommand = \"x\"\n",
		".gemini/settings.json":          `{"mcpServers": {"x": {"command": "x", "args": ["$A", "${A}", "${U:-d}", "$5"]}, "y": {"url": "https://a.example/sse", "httpUrl": "https://a.example/mcp", "timeout": 1500}}}`,
		".config/opencode/opencode.json": `{"mcp": {"x": {"command": ["x", "{env:A}", "a{env:U}", "${A}"]}, "y": {"command": ["{file:./key}"]}}}`,
		".claude.json":                   `{"mcpServers": {"x": {"command": "x", "args": ["${A}", "${U:-d}", "$A", 7]}}}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range Find(home, func(string) string { return "" }, "") {
		s := f.Expand(mcp.Variables{Getenv: func(name string) string { return map[string]string{"A": "AVAL"}[name] }})
		got = append(got, fmt.Sprintf("%s %s %q %s %v %v %v %.9s", f.Client, f.Name, s.Command, s.URL, s.Env, s.Start+s.Call, s.Err, f.Problem))
	}
	want := `claude x ["x" "AVAL" "d" "$A" "7"]  map[] 0s <nil>
codex !! ["x"]  map[] 0s <nil> its name
codex x ["x" "${A}" "$A"]  map[A:AVAL P:1000000 U:] 2.5s <nil>
gemini x ["x" "AVAL" "AVAL" "d" "$5"]  map[] 0s <nil>
gemini y [] https://a.example/mcp map[] 1.5s <nil>
opencode x ["x" "AVAL" "a" "${A}"]  map[] 0s <nil>
opencode y ["{file:./key}"]  map[] 0s <nil> it names`
	for i, line := range got {
		got[i] = strings.TrimSpace(line)
	}
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("%s\n\nnot\n\n%s", text, want)
	}
}

func TestAFileThatCannotBeReadIsTold(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"[a", "x", "a = \"b", "a = [1", "a = {b", "= 1", "a = '''x", "[[a]"} {
		if err := os.WriteFile(filepath.Join(home, ".codex/config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Find(home, os.Getenv, ""); len(got) != 1 || !strings.HasPrefix(got[0].Problem, "it cannot be read: ") {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
