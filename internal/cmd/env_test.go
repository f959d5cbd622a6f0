package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a command says goes through Env, which masks it: no command but Env writes to Out.
func TestNoCommandWritesPastEnv(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "env.go" {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && name == "doctor.go" && key.Name == "Out" {
					return false // only asked whether it is a terminal
				}
			}
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Out" {
				t.Errorf("%s: Out is written past Env; use Show, ShowJSON, Stdout or Columns", set.Position(s.Pos()))
			}
			return true
		})
	}
}
