package lsp_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"adze/internal/editors/lsp"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
	"adze/internal/testkit/nodetest"
)

// plant makes a project in which each thing that a language server may run writes a file; it
// returns that file.
func plant(t *testing.T, dir string) (canary string) {
	t.Helper()
	canary = filepath.Join(dir, "CANARY")
	shell := fmt.Sprintf("#!/bin/sh\necho \"$0\" >>%s\nexit 1\n", canary)
	node := fmt.Sprintf("require('fs').appendFileSync(%q, __filename + '\\n');\nmodule.exports = () => ({create: (i) => i.languageService});\n", canary)
	python := fmt.Sprintf("open(%q, 'a').write(__name__ + '\\n')\n", canary)
	for name, text := range map[string]string{
		"tsconfig.json": `{"compilerOptions": {"strict": true, "target": "es2022", "module": "es2022", "types": [], "plugins": [{"name": "evil-plugin"}, {"name": "./evil.js"}, {"name": "../evil"}]}}`,
		"package.json":  `{"name": "x", "scripts": {"preinstall": "touch CANARY", "install": "touch CANARY"}, "volta": {"node": "1.2.3"}}`,
		"evil.js":       node, "a.ts": "export const a: string = 1;\n",
		"node_modules/typescript/package.json":      `{"name": "typescript", "version": "5.9.3", "main": "./lib/typescript.js"}`,
		"node_modules/typescript/lib/tsserver.js":   node,
		"node_modules/typescript/lib/typescript.js": node,
		"node_modules/evil-plugin/package.json":     `{"name": "evil-plugin", "main": "index.js"}`,
		"node_modules/evil-plugin/index.js":         node,
		".yarn/sdks/typescript/package.json":        `{"name": "typescript", "version": "5.9.3"}`,
		".yarn/sdks/typescript/lib/tsserver.js":     node,
		".vscode/pnpify/typescript/lib/tsserver.js": node,
		".pnp.cjs":         node,
		".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.2\n",
		".venv/lib/python3.11/site-packages/evil.pth": "import os; open('" + canary + "', 'a').write('pth\\n')\n",
		"pyproject.toml": "[tool.pyright]\nvenvPath = \".\"\nvenv = \".venv\"\n",
		"json.py":        python, "sitecustomize.py": python, "usercustomize.py": python, "site.py": python, "os.py": python,
		"a.py":                    "import json\na: str = 1\n",
		"go.mod":                  "module example.com/m\n\ngo 1.21\n\ntoolchain go1.98.7\n",
		"go.work":                 "go 1.21\n\ntoolchain go1.98.7\n\nuse .\n",
		"a.go":                    "package m\n\nvar A string = 1\n",
		"compile_commands.json":   `[{"directory": "` + dir + `", "file": "a.cpp", "arguments": ["` + dir + `/bin/g++", "-fplugin=` + dir + `/evil.so", "-c", "a.cpp"]}, {"directory": "` + dir + `", "file": "b.cpp", "command": "/usr/bin/../..` + dir + `/bin/g++ -c b.cpp"}]`,
		".clangd":                 "CompileFlags:\n  Compiler: " + dir + "/bin/g++\n  Add: [-Xclang, -load, -Xclang, " + dir + "/evil.so]\n",
		"a.cpp":                   "int a = \"x\";\n",
		"b.cpp":                   "int b = \"x\";\n",
		"Cargo.toml":              "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"build.rs":                "fn main() { std::fs::write(\"" + canary + "\", \"x\").unwrap(); }\n",
		"rust-toolchain.toml":     "[toolchain]\npath = \"bin\"\n",
		".cargo/config.toml":      "[build]\nrustc = \"" + dir + "/bin/rustc\"\nrustc-wrapper = \"" + dir + "/bin/rustc\"\n",
		"src/lib.rs":              "pub fn a() -> i32 { \"x\" }\n",
		".gopls.json":             "{}",
		".git/config":             "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = " + dir + "/bin/git\n",
		".git/HEAD":               "ref: refs/heads/main\n",
		".git/objects/info/packs": "", ".git/refs/heads/.keep": "",
	} {
		put(t, dir, name, text)
	}
	for _, name := range []string{"bin/g++", "bin/rustc", "bin/cargo", "bin/rust-analyzer", "bin/git", "bin/go", "bin/go1.98.7", "bin/gopackagesdriver", "bin/node", "bin/npm", "bin/python3",
		".venv/bin/python", ".venv/bin/python3", "node_modules/.bin/tsc", "node_modules/.bin/tsserver", "node_modules/.bin/typescript-language-server", "node_modules/.bin/pyright-langserver"} {
		if err := os.Chmod(put(t, dir, name, shell), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return canary
}

// found are the servers that are installed, each by its absolute path; gopls may lie in GOPATH.
func found(t *testing.T) (out []lsp.Language) {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, l := range lsp.KnownLanguages() {
		name := l.Command[0]
		paths := []string{filepath.Join(home, "go", "bin", name), filepath.Join(home, ".cargo", "bin", name)}
		if path, err := exec.LookPath(name); err == nil && l.Name != "typescript" {
			paths = append(paths, path)
		}
		if effort.Is(effort.Short) {
			if modules := os.Getenv("ADZE_NPM"); modules != "" {
				paths = append(paths, filepath.Join(modules, "node_modules", ".bin", name))
			} else if cache, err := os.UserCacheDir(); err == nil {
				paths = append(paths, filepath.Join(cache, "adze-ci-npm", "node_modules", ".bin", name))
			}
		}
		i := slices.IndexFunc(paths, func(path string) bool { _, err := os.Stat(path); return err == nil })
		if i < 0 || l.Name == "typescript" {
			t.Log(l.Name + " is left out: it is not installed")
			continue
		}
		l.Command[0] = paths[i]
		out = append(out, l)
	}
	return out
}

// TestAPlantedProjectRunsNothing: of all that servers may run of a project, none does without
// consent, whatever its files say; with the search path and the environment of somebody who works
// in it.
func TestAPlantedProjectRunsNothing(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	canary := plant(t, dir)
	env := proc.WithoutPathsIn(append(os.Environ(), "PATH="+dir+"/bin:"+dir+"/.venv/bin:"+dir+"/node_modules/.bin:"+os.Getenv("PATH"), "PYTHONPATH="+dir+":.", "NODE_PATH="+dir+"/node_modules",
		"VIRTUAL_ENV="+dir+"/.venv", "GOPROXY=off", "GOTOOLCHAIN=path", "GOFLAGS="), dir)
	languages := found(t)
	if len(languages) == 0 {
		t.Skip("no language server is installed")
	}
	var asked []string
	s := lsp.New(lsp.Options{Root: dir, Languages: languages, Env: env, Warm: long, Cold: long, Allows: func(s lsp.SDK) bool { asked = append(asked, s.Name); return false }})
	t.Cleanup(s.Close)
	for name, server := range map[string]string{"a.ts": "typescript-language-server", "a.py": "pyright", "a.go": "gopls", "a.cpp": "clangd", "b.cpp": "clangd", "src/lib.rs": "rust-analyzer"} {
		if !slices.ContainsFunc(languages, func(l lsp.Language) bool { return l.Name == server }) {
			continue
		}
		path := filepath.Join(dir, name)
		raw, _ := os.ReadFile(path)
		f, ok := s.Changed(t.Context(), path, string(raw)+"\n", string(raw))
		t.Logf("%s: %v %s", name, ok, f.Text(filepath.Base))
		if server == "rust-analyzer" || server == "gopls" { // the one is held, the other has no toolchain for the project
			continue
		}
		_, err := s.Problems(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Close()
	if text, err := os.ReadFile(canary); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it ran: %s %v", text, err)
	}
	for _, sdk := range lsp.SDKs(dir, languages, env) {
		if !slices.Contains(asked, sdk.Name) {
			t.Errorf("%s was not asked about: %v", sdk.Name, asked)
		}
	}
}

// TestTheCanariesSing: with consent the same project's code does run, so that the test above can
// fail.
func TestTheCanariesSing(t *testing.T) {
	nodetest.Modules(t, "typescript", "typescript-language-server")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	canary := plant(t, dir)
	compiler := slices.DeleteFunc(lsp.KnownLanguages(), func(l lsp.Language) bool { return l.Name != "typescript" })
	compiler[0].Command[0] = native(t) // which the project's older one is preferred to
	s := lsp.New(lsp.Options{Root: dir, Languages: append(compiler, found(t)...), Env: append(os.Environ(), "GOPROXY=off"), Warm: long, Cold: long, Allows: func(lsp.SDK) bool { return true }})
	t.Cleanup(s.Close)
	s.Changed(t.Context(), filepath.Join(dir, "a.ts"), "x", "y")
	s.Close()
	raw, _ := os.ReadFile(canary)
	if !strings.Contains(string(raw), "tsserver.js") {
		t.Errorf("tsserver.js did not run: %s", raw)
	}
}

// TestAPlantedCompilerRunsNothing is the same of a project with a native TypeScript.
func TestAPlantedCompilerRunsNothing(t *testing.T) {
	program := native(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	canary := plant(t, dir)
	put(t, dir, "node_modules/typescript/package.json", `{"name": "typescript", "version": "7.0.2", "bin": {"tsc": "bin/tsc"}}`)
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	compiler := put(t, dir, "node_modules/@typescript/typescript-"+runtime.GOOS+"-"+cmp.Or(arch, runtime.GOARCH)+"/lib/tsc", "#!/bin/sh\necho tsc >>"+canary+"\n")
	if err := os.Chmod(compiler, 0o755); err != nil {
		t.Fatal(err)
	}
	languages := slices.DeleteFunc(lsp.KnownLanguages(), func(l lsp.Language) bool { return l.Name != "typescript" })
	languages[0].Command[0] = program
	path := filepath.Join(dir, "a.ts")
	for _, allowed := range []bool{false, true} {
		s := lsp.New(lsp.Options{Root: dir, Languages: languages, Env: os.Environ(), Warm: long, Cold: long, Allows: func(lsp.SDK) bool { return allowed }})
		f, ok := s.Changed(t.Context(), path, "", "export const a: string = 1;\n")
		s.Close()
		raw, _ := os.ReadFile(canary)
		if ran := len(raw) > 0; !ok || ran != allowed {
			t.Errorf("allowed %t: ran %q, told %s", allowed, raw, f.Text(filepath.Base))
		}
		if !allowed && (len(f.New) != 1 || !strings.Contains(f.Note, "the user's TypeScript 7")) {
			t.Errorf("told %s", f.Text(filepath.Base))
		}
	}
}
