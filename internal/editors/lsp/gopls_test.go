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

// goDesk is a module of n files that use Old, with the real gopls; without one the test is skipped.
func goDesk(t *testing.T, n int) (*lsp.Servers, string) {
	t.Helper()
	program, err := exec.LookPath("gopls")
	if err != nil {
		home, _ := os.UserHomeDir()
		program = filepath.Join(home, "go", "bin", "gopls")
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("gopls is not installed: go install golang.org/x/tools/gopls@v0.23.0")
	}
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

// TestGoplsTellsWhatAnEditBreaks: in the file itself and in those that use it, in the call of the
// edit; and when it is right again, that.
func TestGoplsTellsWhatAnEditBreaks(t *testing.T) {
	s, dir := goDesk(t, 2)
	path := filepath.Join(dir, "old.go")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Replace(string(before), "return n", "return missing", 1)
	put(t, dir, "old.go", after)
	f, ok := s.Changed(t.Context(), path, string(before), after)
	text := f.Text(func(p string) string { r, _ := filepath.Rel(dir, p); return r })
	if !ok || !strings.Contains(text, "old.go:4:30: error: undefined: missing [UndeclaredName]") {
		t.Fatalf("%v %s", ok, text)
	}
	put(t, dir, "old.go", string(before))
	if f, _ := s.Changed(t.Context(), path, after, string(before)); len(f.New) > 0 || f.Unknown != "" {
		t.Errorf("right again: %+v", f)
	}
	use := filepath.Join(dir, "p0", "use.go")
	if all, err := s.Problems(t.Context(), use); err != nil || len(all) > 0 {
		t.Errorf("%+v %v", all, err)
	}
	places, err := s.Definition(t.Context(), lsp.Spot{Path: use, Line: 6, Name: "m.Old"})
	if err != nil || len(places) != 1 || places[0].Line != 4 || places[0].Path != path {
		t.Errorf("definition %+v %v", places, err)
	}
	places, err = s.References(t.Context(), lsp.Spot{Path: path, Line: 4, Name: "Old"})
	if err != nil || len(places) != 3 {
		t.Errorf("references %+v %v", places, err)
	}
	outline, err := s.Outline(t.Context(), path)
	if err != nil || len(outline) != 1 || outline[0].Kind != "function" {
		t.Errorf("outline %+v %v", outline, err)
	}
	found, err := s.Find(t.Context(), path, "Use")
	if err != nil || len(found) < 2 {
		t.Errorf("found %+v %v", found, err)
	}
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

// TestGoplsRenamesAcrossTwentyFiles says what each becomes.
func TestGoplsRenamesAcrossTwentyFiles(t *testing.T) {
	s, dir := goDesk(t, 20)
	got, err := s.Rename(t.Context(), lsp.Spot{Path: filepath.Join(dir, "old.go"), Line: 4, Name: "Old"}, "Fresh")
	if err != nil || len(got) != 21 {
		t.Fatalf("%d files, %v", len(got), err)
	}
	for _, r := range got {
		if strings.Contains(r.After, "m.Old(") || !strings.Contains(r.After, "Fresh(") {
			t.Errorf("%s:\n%s", r.Path, r.After)
		}
	}
}
