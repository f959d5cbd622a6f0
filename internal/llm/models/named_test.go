package models

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/llm/wire"
)

// The table and the adapters are the only places that name a provider: one more is one row. Read
// from the sources, with the names of the table itself.
func TestNobodyElseNamesAProvider(t *testing.T) {
	named := naming()
	// How published keys begin, programs that are called as a provider is, and the names of packages.
	tables := []string{"internal/llm/models/vendors.go", "internal/text/redact/shapes.go", "internal/osfile/delicate/names.go", "internal/tools/archtest/arrows.go"}
	root := os.DirFS("../../..")
	err := fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || at != "." && strings.HasPrefix(d.Name(), ".") || at == "internal/llm" || at == "internal/testkit") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(at, ".go") || strings.HasSuffix(at, "_test.go") || slices.Contains(tables, at) {
			return nil
		}
		for _, text := range literals(t, root, at) {
			if found := named(text); found != "" && !dialect(at, text) {
				t.Errorf("%s names %s in %q: take it from the table in internal/llm/models/vendors.go", at, found, text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dialect reports the folders of another assistant, which is called as a provider is.
func dialect(at, text string) bool {
	return text == "gemini" && (strings.HasPrefix(at, "internal/project/") || strings.HasPrefix(at, "internal/mcp/clients/"))
}

// The check itself, so that it does not pass by finding nothing.
func TestNamesOfProvidersAreFound(t *testing.T) {
	named := naming()
	for text, want := range map[string]bool{
		"start Ollama first": true, "openai/NAME": true, "set ANTHROPIC_API_KEY": true, "load it in LM Studio": true, "groq": true, "together": true,
		"OLLAMA_HOST": true, "http://127.0.0.1:11434": true, "127.0.0.1:0": false, "several run together": false, "these responses": false, "respect_gemini_ignore": false, "script/FILE": false, ".gemini/settings.json": false, "GEMINI.md": false, ".config/openai": false,
	} {
		if got := named(text) != ""; got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// literals are the texts that a file holds, but for what it imports and tags.
func literals(t *testing.T, root fs.FS, at string) (out []string) {
	t.Helper()
	raw, err := fs.ReadFile(root, at)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), at, raw, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if _, is := n.(*ast.ImportSpec); is {
			return false
		}
		if lit, is := n.(*ast.BasicLit); is && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			out = append(out, text)
		}
		return true
	})
	return out
}

// naming tells which provider a text names. Names that are words of the language count alone or
// before a model.
func naming() func(text string) string {
	words := []string{"together", "responses", "script"}
	var whole, parts []string
	for _, v := range vendors() {
		if v.Home == "" {
			continue // it asks no server
		}
		parts = append(parts, regexp.QuoteMeta(v.Name+"/"), regexp.QuoteMeta(wire.Host(v.Home))+":[1-9]")
		if !slices.Contains(words, v.Name) {
			whole = append(whole, regexp.QuoteMeta(v.Name))
		} else if v.SameServerAs == "" {
			parts = append(parts, "^"+regexp.QuoteMeta(v.Name)+"$")
		}
		if v.Program != "" {
			whole = append(whole, regexp.QuoteMeta(v.Program))
			parts = append(parts, regexp.QuoteMeta(strings.TrimPrefix(v.Home, "http://")))
		}
		row, _ := vendor(v.Name)
		for _, name := range slices.Concat(row.Keys, row.URLs) {
			parts = append(parts, regexp.QuoteMeta(name))
		}
	}
	is := regexp.MustCompile(`(?i)\b(?:` + strings.Join(whole, "|") + `)\b|` + strings.Join(parts, "|"))
	// Files of other assistants are named after their companies.
	others := regexp.MustCompile(`(?i)\.(?:config/)?(?:` + strings.Join(whole, "|") + `)\b|\b(?:` + strings.Join(whole, "|") + `)\.md\b`)
	return func(text string) string { return is.FindString(others.ReplaceAllString(text, "")) }
}

// What who has no model is told holds for each row.
func TestTheWaysTellEveryProvider(t *testing.T) {
	ways := New(config.Config{}, "config.json", func(string) string { return "" }, Memory{}).SetupHelp()
	for _, v := range vendors() {
		if v.Home != "" && v.SameServerAs == "" && !strings.Contains(ways, v.Name+"/NAME") {
			t.Errorf("%s stands nowhere in:\n%s", v.Name, ways)
		}
		if v.Program != "" && !strings.Contains(ways, v.Program) || v.Default != "" && !strings.Contains(ways, v.Keys[0]) {
			t.Errorf("%s is told in part only:\n%s", v.Name, ways)
		}
		if f := v.Fetch; f.Get != "" && (f.Site == "" || f.Binary() == "" || f.Size == "" || !strings.HasSuffix(f.Command(f.Suggest), " "+f.Suggest)) {
			t.Errorf("%s: %+v", v.Name, f)
		}
		if v.ListsDetails != "" && LargerAt(v.ListsDetails, "m") == LargerAt("", "m") {
			t.Errorf("nobody is told how %s gets a larger context", v.Name)
		}
	}
}
