package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingOfTheProjectIsLaunched: what the user's configuration says is followed as far as it
// leads to no code of the project.
func TestNothingOfTheProjectIsLaunched(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, own := filepath.Join(top, "work"), filepath.Join(top, "own")
	for _, dir := range []string{root, own} {
		for name, text := range map[string]string{
			"node_modules/typescript/package.json":    `{"name": "typescript", "version": "5.9.3"}`,
			"node_modules/typescript/lib/tsserver.js": "", "bin/typescript-language-server": "#!/bin/sh\n", "bin/clangd": "#!/bin/sh\n", "bin/gopls": "#!/bin/sh\n",
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	theirs, ours := filepath.Join(root, "node_modules/typescript/lib/tsserver.js"), filepath.Join(own, "node_modules/typescript/lib/tsserver.js")
	start := func(name string, init string, argv ...string) (launch, error) {
		l := Language{Name: name, Command: argv, Init: json.RawMessage(init)}
		s := New(Options{Root: root, Languages: []Language{l}, Env: []string{"PATH=/usr/bin", "PYTHONPATH=" + root + ":" + own, "GOTOOLCHAIN=go1.2.3+auto"}})
		return s.launch(l, root)
	}
	for _, init := range []string{`{}`, `{"tsserver": {"path": "` + theirs + `"}}`, `{"tsserver": {"path": "node_modules/typescript/lib/tsserver.js", "fallbackPath": "` + theirs + `"}}`, `{"tsserver": {"path": "` + ours + `"}}`,
		`{"plugins": [{"name": "p", "location": "` + root + `"}, {"name": "q", "location": "node_modules"}]}`} {
		l, err := start(typescriptServer, init, filepath.Join(own, "bin/typescript-language-server"), "--stdio")
		raw, _ := json.Marshal(l.init)
		if err != nil || l.dir != "/" || !strings.Contains(string(raw), ours) || strings.Contains(string(raw), root) || strings.Contains(string(raw), "fallback") || strings.Contains(string(raw), `"q"`) {
			t.Errorf("%s: %s %v", init, raw, err)
		}
		if env := strings.Join(l.env, " "); strings.Contains(env, root) || !strings.Contains(env, "PYTHONPATH="+own) {
			t.Errorf("environment %s", env)
		}
	}
	if l, err := start("clangd", `{}`, filepath.Join(own, "bin/clangd"), "--query-driver=/usr/bin/g++"); err == nil {
		t.Errorf("a clangd that runs compilers starts: %+v", l)
	}
	if l, err := start("gopls", `{"staticcheck": true}`, filepath.Join(own, "bin/gopls")); err != nil || !strings.Contains(strings.Join(l.env, " "), "GOTOOLCHAIN=local") || l.init["staticcheck"] != true {
		t.Errorf("%+v %v", l, err)
	}
	for _, argv := range [][]string{{filepath.Join(root, "bin/gopls")}, {"bin/gopls"}, {"npx", "gopls"}, {filepath.Join(own, "bin/clangd")}} {
		if l, err := start("gopls", `{}`, argv...); err == nil {
			t.Errorf("%v starts: %+v", argv, l)
		}
	}
	if err := os.RemoveAll(filepath.Join(own, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if l, err := start(typescriptServer, `{}`, filepath.Join(own, "bin/typescript-language-server")); err == nil || !strings.Contains(err.Error(), "has not allowed that here") {
		t.Errorf("without a TypeScript of the user's: %+v %v", l, err)
	}
}
