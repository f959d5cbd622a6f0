package lsp

import (
	"encoding/json"
	"os"
	"slices"

	"adze/internal/sandbox/proc"
)

// A Language is a server, its command and its files.
type Language struct {
	Name    string
	Command []string
	Files   map[string]string // lower-case extension with its dot, to the protocol's language id
	Markers []string          // files at a project's root
	Init    json.RawMessage   // initializationOptions, or nil
}

// The TypeScript servers: the compiler itself from version 7 on, and the wrapper of tsserver.js for
// earlier versions.
const (
	nativeTypeScript = "typescript"
	typescriptServer = "typescript-language-server"
)

// KnownLanguages returns the supported servers, with the commands from their manuals.
func KnownLanguages() []Language {
	script := map[string]string{".ts": "typescript", ".tsx": "typescriptreact", ".js": "javascript", ".jsx": "javascriptreact",
		".mts": "typescript", ".cts": "typescript", ".mjs": "javascript", ".cjs": "javascript"}
	c := map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp"}
	return []Language{
		{Name: "gopls", Command: []string{"gopls"}, Files: map[string]string{".go": "go"}, Markers: []string{"go.work", "go.mod"}},
		{Name: nativeTypeScript, Command: []string{"tsc", "--lsp", "--stdio"}, Files: script, Markers: []string{"tsconfig.json", "jsconfig.json", "package.json"}},
		{Name: typescriptServer, Command: []string{"typescript-language-server", "--stdio"}, Files: script,
			Markers: []string{"tsconfig.json", "jsconfig.json", "package.json"},
			// By default it renames an import only within the file ("a as b") and downloads types
			// of packages.
			Init: json.RawMessage(`{"preferences":{"providePrefixAndSuffixTextForRename":false},"disableAutomaticTypingAcquisition":true}`)},
		{Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Files: map[string]string{".py": "python", ".pyi": "python"},
			Markers: []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pyrightconfig.json"}},
		{Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Files: map[string]string{".rs": "rust"}, Markers: []string{"Cargo.toml"}},
		{Name: "clangd", Command: []string{"clangd"}, Files: c, Markers: []string{"compile_commands.json", "compile_flags.txt", ".clangd"}},
	}
}

// ForFolder returns the languages that a folder seems to use and whose programs are installed. It
// reads one folder, so it is cheap enough for each start.
func ForFolder(dir string, all []Language, env []string) []Language {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return slices.DeleteFunc(slices.Clone(all), func(l Language) bool { return !l.seems(names) || !l.installed(dir, env) })
}

// installed reports whether the server's program exists. TypeScript's must be version 7 or later
// and may be the project's.
func (l Language) installed(dir string, env []string) bool {
	program, err := proc.LookPath(l.Command[0], dir, env)
	if l.Name != nativeTypeScript || !l.known(dir, env) {
		return err == nil
	}
	if sdk, ok := l.sdk(dir, env); ok && sdk.Server == nativeTypeScript {
		return true
	}
	_, ok := nativeOf(program, dir)
	return ok
}

// seems reports whether a folder with these files may be a project in the language.
func (l Language) seems(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(l.Markers, name) || l.Files[ending(name)] != ""
	})
}
