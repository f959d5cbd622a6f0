package policy

import "testing"

// TestARuleSaysWhatItAllows holds the sentence of rules that users write.
func TestARuleSaysWhatItAllows(t *testing.T) {
	for rule, want := range map[string]string{
		"execute":                           "every command, and every tool of every MCP server",
		"execute(go test **)":               "go test with any options and names, in every folder, also behind CI=1, env, nohup or timeout",
		"execute(mytool {log,show} *)":      "mytool (log or show) * and nothing behind it (* is any one word), in every folder, also behind CI=1, env, nohup or timeout",
		"execute(make all)":                 "make all and nothing behind it, in every folder, also behind CI=1, env, nohup or timeout",
		"execute(mcp:fs read_file)":         "any call of the tool read_file of the MCP server fs, whatever its arguments",
		"execute(mcp:fs read_*)":            "any call of each tool read_* of the MCP server fs, whatever its arguments, also of tools that it adds later",
		"execute(mcp:{fs,git} {a,b})":       "any call of each tool {a,b} of each MCP server {fs,git}, whatever its arguments, also of tools that it adds later",
		"execute(mcp:fs res*)":              "any call of each tool res* of the MCP server fs, whatever its arguments, also of tools that it adds later, and reading its resources",
		"execute(mcp:fs **)":                "any call of any tool of the MCP server fs, also of tools that it adds later, and reading its resources",
		"write":                             "edits to every file in the workspace",
		"write(src/**)":                     "edits to every file below src in the workspace",
		"read(home:notes/**)":               "reads of every file below notes in the home folder, also files known for their secrets",
		"read(abs:/srv/a.txt)":              "reads of /srv/a.txt, or each list and search of it",
		"write(**/*.md)":                    "edits to every file that is called **/*.md in the workspace",
		"network(example.com)":              "every page of example.com on the usual ports, by http and https",
		"network(*.example.com)":            "every page of each host below example.com on the usual ports, by http and https",
		"network(http://localhost:8080)":    "every page at http://localhost:8080",
		"network(https://docs.example.com)": "every page of docs.example.com by https on its usual port",
		"network":                           "every page of every host on the usual ports",
	} {
		r, err := ParseRule(Allow, User, rule)
		if err != nil {
			t.Fatal(err)
		}
		d := r.Describe()
		if d.Covers != want {
			t.Errorf("%s covers %q, want %q", rule, d.Covers, want)
		}
		if d.StillAsked == "" {
			t.Errorf("%s spares nothing", rule)
		}
	}
}
