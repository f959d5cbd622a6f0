package lsp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/editors/lsp"
	"adze/internal/testkit/nodetest"
)

// project is a small one for a real server: lib defines greet, use calls it, and every position
// lies behind letters that three encodings count differently.
type project struct {
	server string
	// program finds it, or skips the test.
	program  func(t *testing.T) string
	files    map[string]string
	lib, use string
	// wrong is what use becomes, and says what the server has to find in it.
	right, wrong, says string
	// call is the line of use that calls greet, from 1; defined that of lib which defines it.
	call, defined int
	broken        [2]string
	comment       string // of the language
}

// installed is a program of this machine that answers when it is asked for its version: a name
// alone may be a pointer to nothing, such as rustup leaves.
func installed(name string) func(*testing.T) string {
	return func(t *testing.T) string {
		path, err := exec.LookPath(name)
		if err != nil {
			home, _ := os.UserHomeDir()
			path = filepath.Join(home, ".cargo", "bin", name)
		}
		if exec.Command(path, "--version").Run() != nil {
			t.Skip(name + " is not installed")
		}
		return path
	}
}

func ofNode(pkg, name string) func(*testing.T) string {
	return func(t *testing.T) string { nodetest.Modules(t, "typescript"); return nodetest.Program(t, pkg, name) }
}

// native is the compiler of TypeScript 7, as npm installs it under its own name.
func native(t *testing.T) string {
	return filepath.Join(nodetest.Modules(t, "typescript7"), "typescript7", "bin", "tsc")
}

func projects() []project {
	script := map[string]string{
		"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "es2022", "target": "es2022", "types": []}}`,
		"lib.ts":        "/* 😀é */ export function greet(name: string): string { return name; }\n",
		"use.ts":        "import { greet } from \"./lib\";\n/* 😀é */ export const hello: string = greet(\"😀\");\n",
	}
	return []project{
		{server: "typescript", program: native, lib: "lib.ts", use: "use.ts", call: 2, defined: 1, says: "[2322]",
			files: script, right: "const hello: string", wrong: "const hello: number", broken: [2]string{"name: string", "name: number"}, comment: "// more\n"},
		{server: "typescript-language-server", program: ofNode("typescript-language-server", "typescript-language-server"), lib: "lib.ts", use: "use.ts", call: 2, defined: 1, says: "[2322]",
			files: script, right: "const hello: string", wrong: "const hello: number", broken: [2]string{"name: string", "name: number"}, comment: "// more\n"},
		{server: "pyright", program: ofNode("pyright", "pyright-langserver"), lib: "lib.py", use: "use.py", call: 3, defined: 1, says: "error",
			files: map[string]string{
				"pyproject.toml": "[tool.pyright]\npythonVersion = \"3.11\"\n",
				"lib.py":         "def greet(é: str) -> str: return \"😀\" + é\n",
				"use.py":         "from lib import greet\n\nhello: str = \"😀\" + greet(\"😀\")\n",
			}, right: "hello: str", wrong: "hello: int", broken: [2]string{"é: str", "é: int"}, comment: "# more\n"},
		{server: "rust-analyzer", program: installed("rust-analyzer"), lib: "src/lib.rs", use: "src/other.rs", call: 2, defined: 2, says: "error",
			files: map[string]string{
				"Cargo.toml":   "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
				"src/lib.rs":   "pub mod other;\n/* 😀é */ pub fn greet(name: &str) -> &str { name }\n",
				"src/other.rs": "use crate::greet;\n/* 😀é */ pub fn hello() -> &'static str { greet(\"x\") }\n",
			}, right: "greet(\"x\")", wrong: "greet(\"x\"", broken: [2]string{"name: &str", "name: i32"}, comment: "// more\n"},
		{server: "gopls", program: gopls, lib: "lib.go", use: "use.go", call: 3, defined: 3, says: "[IncompatibleAssign]",
			files: map[string]string{
				"go.mod": "module example.com/m\n\ngo 1.26\n",
				"lib.go": "package m\n\n/* 😀é */ func greet(name string) string { return name }\n",
				"use.go": "package m\n\n/* 😀é */ var hello string = greet(\"😀\")\n",
			}, right: "hello string", wrong: "hello int", broken: [2]string{"name string) string { return name", "name int) int { return name"}, comment: "// more\n"},
		{server: "clangd", program: installed("clangd"), lib: "lib.hpp", use: "use.cpp", call: 2, defined: 1, says: "error",
			files: map[string]string{
				"compile_flags.txt": "-std=c++17\n",
				"lib.hpp":           "inline const char* greet(const char* name) { return name; } // 😀é\n",
				"use.cpp":           "#include \"lib.hpp\"\n/* 😀é */ const char* hello() { return greet(\"😀\"); }\n",
			}, right: "const char* hello", wrong: "int hello", broken: [2]string{"const char* name", "int name"}, comment: "// another size: clangd compares sizes and seconds\n"},
	}
}

// TestRealServers holds those that are used by default to what they are used for.
func TestRealServers(t *testing.T) {
	for _, p := range projects() {
		t.Run(p.server, func(t *testing.T) {
			s, dir := p.open(t)
			use, lib := filepath.Join(dir, p.use), filepath.Join(dir, p.lib)
			before := p.files[p.use]
			after := strings.Replace(before, p.right, p.wrong, 1)
			name := func(path string) string { r, _ := filepath.Rel(dir, path); return r }
			put(t, dir, p.use, after)
			f, ok := s.Changed(t.Context(), use, before, after)
			if text := f.Text(name); !ok || f.Unknown != "" || len(f.New) == 0 || f.New[0].Path != use || !strings.Contains(text, p.says) {
				t.Fatalf("broken: %v %+v %s %+v", ok, f, text, s.States())
			}
			put(t, dir, p.use, before)
			if f, _ := s.Changed(t.Context(), use, after, before); len(f.New) > 0 || f.Unknown != "" {
				t.Errorf("right again: %+v", f)
			}
			if all, err := s.Problems(t.Context(), use); err != nil || len(all) > 0 {
				t.Errorf("problems %+v %v", all, err)
			}
			places, err := s.Definition(t.Context(), lsp.Spot{Path: use, Line: p.call, Name: "greet"})
			if err != nil || len(places) != 1 || places[0].Path != lib || places[0].Line != p.defined {
				t.Errorf("definition %+v %v", places, err)
			}
			places, err = s.References(t.Context(), lsp.Spot{Path: lib, Line: p.defined, Name: "greet"})
			if err != nil || !slices.ContainsFunc(places, func(at lsp.Place) bool { return at.Path == use && at.Line == p.call }) {
				t.Errorf("references %+v %v", places, err)
			}
			if outline, err := s.Outline(t.Context(), lib); err != nil || !slices.ContainsFunc(outline, func(y lsp.Symbol) bool { return strings.HasPrefix(y.Name, "greet") && y.Line == p.defined }) {
				t.Errorf("outline %+v %v", outline, err)
			}
			if found, err := s.Find(t.Context(), use, "greet"); err != nil || len(found) == 0 {
				t.Errorf("found %+v %v", found, err)
			}
			p.renames(t, s, lib, use)
			p.breaks(t, s, dir, lib, use)
		})
	}
}

// open makes the project, and its server is ready when it has said of use that nothing is wrong.
func (p project) open(t *testing.T) (*lsp.Servers, string) {
	t.Helper()
	program := p.program(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range p.files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, dir, name, text)
	}
	languages := slices.DeleteFunc(lsp.KnownLanguages(), func(l lsp.Language) bool { return l.Name != p.server })
	languages[0].Command[0] = program
	s := lsp.New(lsp.Options{Root: dir, Languages: languages, Warm: long, Cold: long, Env: os.Environ(), Allows: func(s lsp.SDK) bool { return s.Name == "cargo" }})
	t.Cleanup(s.Close)
	return s, dir
}

// renames says what both files become, to the letter.
func (p project) renames(t *testing.T, s *lsp.Servers, lib, use string) {
	t.Helper()
	got, err := s.Rename(t.Context(), lsp.Spot{Path: use, Line: p.call, Name: "greet"}, "welcome")
	if err != nil || len(got) != 2 {
		t.Fatalf("rename: %+v %v", got, err)
	}
	for _, r := range got {
		want := strings.ReplaceAll(r.Before, "greet", "welcome")
		if r.After != want || r.Path != lib && r.Path != use {
			t.Errorf("%s becomes %q, want %q", r.Path, r.After, want)
		}
	}
}

// TestAServerIsAskedAtOnce asks for a rename before a server has read the project: both files are
// changed, or nothing. typescript-language-server 5.1.3 changed the one that was open,
// because its second tsserver, which knows no project, answered meanwhile.
func TestAServerIsAskedAtOnce(t *testing.T) {
	for _, p := range projects() {
		t.Run(p.server, func(t *testing.T) {
			if p.server == "clangd" {
				t.Skip("it never reads a file that is not open, without a list of them")
			}
			s, dir := p.open(t)
			spot := lsp.Spot{Path: filepath.Join(dir, p.lib), Line: p.defined, Name: "greet"}
			if got, err := s.Rename(t.Context(), spot, "welcome"); err != nil || len(got) != 2 {
				t.Errorf("rename: %+v, %v", got, err)
			}
			if got, err := s.References(t.Context(), spot); err != nil || len(got) < 2 {
				t.Errorf("references: %+v, %v", got, err)
			}
		})
	}
}

// breaks changes lib so that use does not fit any more: that is told with the change, though use
// was not asked about, and when it fits again nothing is wrong.
func (p project) breaks(t *testing.T, s *lsp.Servers, dir, lib, use string) {
	t.Helper()
	before := p.files[p.lib]
	after := strings.Replace(before, p.broken[0], p.broken[1], 1)
	put(t, dir, p.lib, after)
	f, ok := s.Changed(t.Context(), lib, before, after)
	if !ok || !slices.ContainsFunc(f.New, func(q lsp.Problem) bool { return q.Path == use }) {
		t.Errorf("what another file broke: %v %s", ok, f.Text(filepath.Base))
	}
	comment := after + p.comment
	put(t, dir, p.lib, comment)
	if f, _ := s.Changed(t.Context(), lib, after, comment); !f.Clean() {
		t.Errorf("a comment: %s", f.Text(filepath.Base))
	}
	if all, err := s.Problems(t.Context(), use); err != nil || len(all) == 0 {
		t.Errorf("problems of the other file: %+v %v", all, err)
	}
	put(t, dir, p.lib, before)
	if f, _ := s.Changed(t.Context(), lib, comment, before); !f.Clean() {
		t.Errorf("right again: %s", f.Text(filepath.Base))
	}
	if all, err := s.Problems(t.Context(), use); err != nil || len(all) > 0 {
		t.Errorf("problems when it is right again: %+v %v", all, err)
	}
}

// TestPyrightReadsTheVirtualEnvironment of the project, whose interpreter it does not run.
func TestPyrightReadsTheVirtualEnvironment(t *testing.T) {
	i := slices.IndexFunc(projects(), func(p project) bool { return p.server == "pyright" })
	p := projects()[i]
	p.files[".venv/lib/python3.11/site-packages/acme/__init__.py"] = "def price() -> int: return 1\n"
	p.files[".venv/lib/python3.11/site-packages/acme/py.typed"] = ""
	p.files["use.py"] = "from acme import price\nhello: str = price()\n"
	s, dir := p.open(t)
	all, err := s.Problems(t.Context(), filepath.Join(dir, "use.py"))
	if err != nil || len(all) != 1 || all[0].Line != 2 {
		t.Errorf("problems %+v %v", all, err)
	}
}
