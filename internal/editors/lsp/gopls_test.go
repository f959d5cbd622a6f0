package lsp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/editors/lsp"
)

// gopls is the installed one, which may lie in GOPATH.
func gopls(t *testing.T) string {
	program, err := exec.LookPath("gopls")
	if err != nil {
		home, _ := os.UserHomeDir()
		program = filepath.Join(home, "go", "bin", "gopls")
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("gopls is not installed: go install golang.org/x/tools/gopls@v0.23.0")
	}
	return program
}

// goDesk is a module of n files that use Old, with the real gopls; without one the test is skipped.
func goDesk(t *testing.T, n int) (*lsp.Servers, string) {
	t.Helper()
	program := gopls(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "go.mod", "module example.com/m\n\ngo 1.26\n")
	put(t, dir, "old.go", "package m\n\n// Old is old.\nfunc Old(n int) int { return n }\n")
	for i := range n {
		put(t, dir, fmt.Sprintf("p%d/use.go", i), fmt.Sprintf("package p%d\n\nimport \"example.com/m\"\n\n// Use uses it.\nfunc Use() int { return m.Old(%d) }\n", i, i))
	}
	languages := lsp.KnownLanguages()
	languages[0].Command[0] = program
	s := lsp.New(lsp.Options{Root: dir, Languages: languages, Warm: long, Cold: long, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local")})
	t.Cleanup(s.Close)
	return s, dir
}

// TestGoplsTellsWhatBreaksElsewhere with the edit that breaks it, in files that nobody has opened.
func TestGoplsTellsWhatBreaksElsewhere(t *testing.T) {
	s, dir := goDesk(t, 2)
	path := filepath.Join(dir, "old.go")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Replace(string(before), "n int", "n string", 1)
	after = strings.Replace(after, "return n", "return len(n)", 1)
	put(t, dir, "old.go", after)
	f, ok := s.Changed(t.Context(), path, string(before), after)
	if !ok || len(f.New) != 2 || filepath.Base(f.New[0].Path) != "use.go" {
		t.Fatalf("%v %s", ok, f.Text(filepath.Base))
	}
	put(t, dir, "old.go", string(before))
	if f, _ := s.Changed(t.Context(), path, after, string(before)); f.Text(filepath.Base) != "gopls: nothing new is wrong" {
		t.Errorf("right again: %s", f.Text(filepath.Base))
	}
}
