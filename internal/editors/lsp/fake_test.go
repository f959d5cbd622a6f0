package lsp_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"adze/internal/editors/lsp"
	"adze/internal/testkit/lsptest"
)

func TestMain(m *testing.M) {
	lsptest.Serve()
	os.Exit(m.Run())
}

// long is a wait that nothing reaches but a fault.
const long = 2 * time.Minute

// desk is a workspace with a fake server for .x files.
func desk(t *testing.T, how string, change ...func(*lsp.Options)) (*lsp.Servers, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := lsp.Options{Root: dir, Env: []string{"PATH=/usr/bin:/bin"}, Warm: long, Cold: long, Allows: func(lsp.SDK) bool { return true },
		Languages: []lsp.Language{{Name: "fake", Command: []string{self, lsptest.Word, how}, Files: map[string]string{".x": "x"}}}}
	for _, c := range change {
		c(&o)
	}
	s := lsp.New(o)
	t.Cleanup(s.Close)
	return s, dir
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
