package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// listed is a package as go list writes it, where its tests are packages of their own.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		GoVersion string
		Main      bool
	}
}

// TestOtherSystems checks the types of the program and its tests for systems on which nothing of
// them runs here. A compiler would make code of half a million lines of libraries for each.
func TestOtherSystems(t *testing.T) {
	effort.Needs(t, effort.Short, "it reads all packages for three systems")
	for _, system := range []string{"darwin/arm64", "freebsd/amd64", "windows/arm64"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			checkTypes(t, system, "adze/...")
		})
	}
}

// TestOtherSystemsSeesFaults holds that the check for a system sees what only that system compiles.
func TestOtherSystemsSeesFaults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module fault\n\ngo 1.26\n",
		"a.go":           "package fault\n",
		"a_darwin.go":    "package fault\n\nvar _ int = \"text\"\n",
		"b_test.go":      "package fault\n",
		"b_plan9.go":     "package fault\n\nvar _ = missing\n",
		"sub/s.go":       "package sub\n",
		"sub/s_test.go":  "package sub_test\n\nimport _ \"fault/sub\"\n",
		"sub/s2_test.go": "package sub\n\nfunc f() int {}\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var found []string
	for _, err := range typeErrors(t, "darwin/arm64", "./...") {
		found = append(found, err.Error())
	}
	if len(found) != 2 || !strings.Contains(found[0], "cannot use") || !strings.Contains(found[1], "missing return") {
		t.Errorf("the check found %q", found)
	}
}

// checkTypes reports each fault that a compiler for the system would find.
func checkTypes(t *testing.T, system, pattern string) {
	t.Helper()
	for _, err := range typeErrors(t, system, pattern) {
		t.Error(err)
	}
}

// typeErrors checks the packages of a pattern with their tests and all that they import. It leaves
// out the bodies of functions of other modules.
func typeErrors(t *testing.T, system, pattern string) (faults []error) {
	t.Helper()
	goos, goarch, _ := strings.Cut(system, "/")
	list := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", pattern)
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	seen := map[string]bool{} // a package with tests is checked without them, too
	files := token.NewFileSet()
	for stream := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := stream.Decode(&p); errors.Is(err, io.EOF) {
			return faults
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		own := p.Module != nil && p.Module.Main
		conf := types.Config{
			IgnoreFuncBodies: !own,
			Sizes:            types.SizesFor("gc", goarch),
			Importer:         importer{checked, p.ImportMap},
			Error: func(err error) {
				if own && !seen[err.Error()] {
					seen[err.Error()] = true
					faults = append(faults, err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			conf.GoVersion = "go" + p.Module.GoVersion
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		path, _, _ := strings.Cut(p.ImportPath, " ") // a package made for a test ends with that test's name
		checked[p.ImportPath], _ = conf.Check(path, files, parsed, nil)
	}
}

// importer returns packages that are checked already; go list names those first that others import.
type importer struct {
	checked map[string]*types.Package
	rename  map[string]string
}

// Import returns the package that a path in a source stands for.
func (i importer) Import(path string) (*types.Package, error) {
	if to := i.rename[path]; to != "" {
		path = to
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, errors.New(path + " is not checked yet")
}
