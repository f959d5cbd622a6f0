package toolset_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adze/internal/files/workspace"
	"adze/tool"
	"adze/toolset"
)

// propertiesOf are the names of a schema's arguments.
func propertiesOf(t *testing.T, schema json.RawMessage) (names []string) {
	t.Helper()
	var s struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	for name := range s.Properties {
		names = append(names, name)
	}
	return names
}

// hint is a piece of advice that names an argument.
var hint = regexp.MustCompile(`\b(?:raise|lower|increase|give|set|pass|use|with|add|by) ((?:[a-z_]+(?:, | and | or )?)+)`)

// A hint names only arguments that the model was shown, whichever schema it was shown: those of the
// brief catalogue for small models are fewer.
func TestHintsNameOfferedArguments(t *testing.T) {
	hidden, inFull := map[string][]string{}, map[string][]string{} // by tool, of either catalogue and of the full one
	for _, brief := range []bool{false, true} {
		for _, d := range offeredBy(t, brief) {
			offered := propertiesOf(t, d.Offered())
			for _, name := range propertiesOf(t, d.Parameters) {
				if !slices.Contains(offered, name) && !slices.Contains(hidden[d.Name], name) {
					hidden[d.Name] = append(hidden[d.Name], name)
				}
				if !slices.Contains(offered, name) && !brief {
					inFull[d.Name] = append(inFull[d.Name], name)
				}
			}
		}
	}
	if len(hidden["grep"]) == 0 {
		t.Fatal("no tool hides an argument")
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for text, full := range literals(t, file) {
			of := hidden
			if full {
				of = inFull
			}
			for _, m := range hint.FindAllStringSubmatch(text, -1) {
				for _, word := range regexp.MustCompile(`[a-z_]+`).FindAllString(m[1], -1) {
					for name, arguments := range of {
						if ofTool(file, name) && slices.Contains(arguments, word) {
							t.Errorf("%s: %q names %s, which %s does not always show", file, text, word, name)
						}
					}
				}
			}
		}
	}
}

// ofTool reports whether a file is of a tool: its own, or that of the words of several.
func ofTool(file, name string) bool {
	stem := strings.TrimSuffix(file, ".go")
	return stem == name || strings.HasPrefix(stem, name+"_") && stem != "list_processes" && stem != "bash_output"
}

// literals are the texts in a file that are no tag of a field, and whether only a model with the
// full catalogue sees them.
func literals(t *testing.T, file string) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := parser.ParseFile(token.NewFileSet(), file, raw, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && f.Tag != nil {
			return false
		}
		if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 1 {
			f, method := c.Fun.(*ast.SelectorExpr)
			if l, isText := c.Args[0].(*ast.BasicLit); method && isText && f.Sel.Name == "unlessBrief" {
				text, _ := strconv.Unquote(l.Value) // it was parsed
				out[text] = true
				return false
			}
		}
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				out[text] = false
			}
		}
		return true
	})
	return out
}

// offeredBy are the definitions of a catalogue.
func offeredBy(t *testing.T, brief bool) []tool.Definition {
	t.Helper()
	root, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	registry, err := toolset.New(toolset.Deps{Root: root, Brief: brief})
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return set.Definitions()
}
