package lsp

import (
	"encoding/json"
	"os"
	"slices"

	"adze/internal/sandbox/proc"
)

// Language is a server: how it is started, and for what.
type Language struct {
	Name    string
	Command []string
	Files   map[string]string // file ending with its point, in small letters, to the language's id in the protocol
	Markers []string          // files that lie at the root of a project
	Init    json.RawMessage   // its initializationOptions; if nil, none
}

// The servers of TypeScript: the compiler itself from version 7 on, and the one that stands before
// tsserver.js of the versions before.
const (
	nativeTypeScript = "typescript"
	typescriptServer = "typescript-language-server"
)

// Known are the servers that are used where they are installed, as their own manuals say to start
// them.
func Known() []Language {
	script := map[string]string{".ts": "typescript", ".tsx": "typescriptreact", ".js": "javascript", ".jsx": "javascriptreact",
		".mts": "typescript", ".cts": "typescript", ".mjs": "javascript", ".cjs": "javascript"}
	c := map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp"}
	return []Language{
		{Name: "gopls", Command: []string{"gopls"}, Files: map[string]string{".go": "go"}, Markers: []string{"go.work", "go.mod"}},
		{Name: nativeTypeScript, Command: []string{"tsc", "--lsp", "--stdio"}, Files: script, Markers: []string{"tsconfig.json", "jsconfig.json", "package.json"}},
		{Name: typescriptServer, Command: []string{"typescript-language-server", "--stdio"}, Files: script,
			Markers: []string{"tsconfig.json", "jsconfig.json", "package.json"},
			// It would rename an import only as far as the file ("a as b"), and fetch types of
			// packages by itself.
			Init: json.RawMessage(`{"preferences":{"providePrefixAndSuffixTextForRename":false},"disableAutomaticTypingAcquisition":true}`)},
		{Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Files: map[string]string{".py": "python", ".pyi": "python"},
			Markers: []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pyrightconfig.json"}},
		{Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Files: map[string]string{".rs": "rust"}, Markers: []string{"Cargo.toml"}},
		{Name: "clangd", Command: []string{"clangd"}, Files: c, Markers: []string{"compile_commands.json", "compile_flags.txt", ".clangd"}},
	}
}

// Of are those of the languages that a folder seems to have files of, and whose programs are there.
// It reads one folder, so that it may be asked at each start.
func Of(dir string, all []Language, env []string) []Language {
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

// installed reports that the server's program is there. That of TypeScript is one from version 7
// on, and may be the project's.
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

// seems reports whether a folder with these names may be a project of the language.
func (l Language) seems(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(l.Markers, name) || l.Files[ending(name)] != ""
	})
}
