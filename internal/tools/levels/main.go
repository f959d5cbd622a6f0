// Levels names the tests that ask how far they are to go: those whose course ADZE_TESTS changes.
//
//	go run ./internal/tools/levels ./internal/policy ./internal/run
//
// It prints a pattern for go test -run. A test that is not among them does the same at every level,
// so that .ci/run needs it once, under the race detector.
//
// Start reading at Asking. It goes by names alone: a test asks when it uses the package effort, a
// package of the testkit that does, or anything of its own package that asks and has such a name.
// So it names a few too many, and none too few.
//
// Known limits: a test that asks through code of adze itself would be missed; only the testkit may
// import effort, which archtest holds.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	var all []string
	for _, dir := range os.Args[1:] {
		names, err := Asking(".", dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "levels:", err)
			os.Exit(1)
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	fmt.Printf("^(%s)$\n", strings.Join(slices.Compact(all), "|"))
}

// module and effort are the paths of the module and of the package that knows the level.
const (
	module = "adze/"
	effort = "internal/testkit/effort"
)

// Asking returns the tests of a folder of the module at root that ask how far they are to go.
func Asking(root, dir string) ([]string, error) {
	files, err := parse(root, dir, "_test.go")
	if err != nil {
		return nil, err
	}
	uses := map[string]map[string]bool{} // by a declaration's name: the names in it
	asks := map[string]bool{}
	for _, file := range files {
		levels, err := levelled(root, file)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			for _, name := range declared(d) {
				if uses[name] == nil {
					uses[name] = map[string]bool{}
				}
				for other := range namesIn(d) {
					uses[name][other] = true
					asks[name] = asks[name] || levels[other]
				}
			}
		}
	}
	for more := true; more; {
		more = false
		for name, used := range uses {
			for other := range used {
				if asks[other] && !asks[name] {
					asks[name], more = true, true
				}
			}
		}
	}
	var out []string
	for name := range uses {
		if asks[name] && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// namesIn returns the names that stand in a declaration.
func namesIn(d ast.Decl) map[string]bool {
	out := map[string]bool{}
	behind := map[*ast.Ident]bool{} // a dot
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			out[method+n.Sel.Name], behind[n.Sel] = true, true
		case *ast.Ident:
			if !behind[n] {
				out[n.Name] = true
			}
		}
		return true
	})
	return out
}

// parse reads the Go files of a folder with an ending, or those that are no tests if it is "".
func parse(root, dir, ending string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var out []*ast.File
	for _, name := range names {
		if ending == "" && strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ending) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

// levelled returns the names by which a file knows effort, and packages of the testkit that use it.
func levelled(root string, file *ast.File) (map[string]bool, error) {
	out := map[string]bool{}
	for _, spec := range file.Imports {
		dir, own := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
		if !own || !strings.HasPrefix(dir, path.Dir(effort)) {
			continue
		}
		if dir != effort {
			files, err := parse(root, dir, "")
			if err != nil {
				return nil, err
			}
			asks := false
			for _, f := range files {
				names, err := levelled(root, f)
				if err != nil {
					return nil, err
				}
				asks = asks || len(names) > 0
			}
			if !asks {
				continue
			}
		}
		name := path.Base(dir)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = true
	}
	return out, nil
}

// method stands before the name of a method, which is used behind a dot.
const method = "."

// declared returns the names that a declaration at the top of a file makes.
func declared(d ast.Decl) (out []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return []string{method + d.Name.Name}
		}
		return []string{d.Name.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					out = append(out, id.Name)
				}
			case *ast.TypeSpec:
				out = append(out, spec.Name.Name)
			}
		}
	}
	return out
}
