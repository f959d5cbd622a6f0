package run

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"adze/internal/run/process"
	"adze/tui"
)

// texts are the string literals of the program, by where they stand, and the documents.
func texts(t *testing.T) map[string]string {
	t.Helper()
	root, out := filepath.Join("..", ".."), map[string]string{}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		out[page] = string(raw)
	}
	files := token.NewFileSet()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					out[files.Position(lit.Pos()).String()] = text
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTextsNameWhatThereIs holds each "adze COMMAND --flag" of help, hints, messages and documents
// to the commands, and each /name of the interface's texts to its own.
func TestTextsNameWhatThereIs(t *testing.T) {
	root := commandLine(&app{&process.Process{}})
	named := regexp.MustCompile(`\badze((?: [a-z]+)*)((?: +[A-Z][A-Z_/]*| -[a-zA-Z]| --[a-z-]+(?:[= ][A-Z]+)?)*)`)
	slash := regexp.MustCompile(`(?:^|[ (])/([a-z]+)\b[^/.*a-z]`)
	checked := 0
	for at, text := range texts(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			c, rest := root, strings.Fields(m[1])
			for len(rest) > 0 {
				i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == rest[0] || sub.HasAlias(rest[0]) })
				if i < 0 {
					break
				}
				c, rest = c.Commands()[i], rest[1:]
			}
			if c != root && c.HasSubCommands() && c.Example == "" && len(rest) > 0 && c.Name() != "help" && strings.HasPrefix(text, strings.TrimSpace("adze"+m[1])) {
				t.Errorf("%s: %q: %s has no command %s", at, m[0], c.CommandPath(), rest[0])
			}
			if len(rest) > 0 { // a sentence about adze
				continue
			}
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(m[2], -1) {
				checked++
				name := strings.TrimPrefix(flag, "--")
				if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil && name != "help" && name != "version" && !c.DisableFlagParsing {
					t.Errorf("%s: %q: %s has no flag %s", at, m[0], c.CommandPath(), flag)
				}
			}
		}
		if !strings.Contains(at, string(filepath.Separator)+"tui"+string(filepath.Separator)) {
			continue
		}
		for _, m := range slash.FindAllStringSubmatch(text+" ", -1) {
			checked++
			if !slices.Contains(tui.CommandNames(), m[1]) && m[1] != "name" {
				t.Errorf("%s: %q names /%s, and there is no such command", at, text, m[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d names were found", checked)
	}
}
