package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adze/internal/project/trust"
)

// Hostile files are broken or nothing, and nothing waits for them.
func TestHostileFilesAreHarmless(t *testing.T) {
	y := newYard(t)
	outside := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(outside, []byte(`{"name": "x", "command": ["true"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	y.write(".adze/tools/broken.json", `{"name": `)
	y.write(".adze/tools/none.json", `{}`)
	y.write(".adze/tools/up.json", `{"command": ["../../../bin/sh"]}`)
	y.write(".adze/tools/away.json", `{"command": ["true"], "workdir": "/etc"}`)
	y.write(".adze/tools/gone.json", `{"command": ["./gone.sh"]}`)
	y.write(".adze/tools/huge.json", strings.Repeat(" ", 1<<20))
	y.write(".mcp.json", `[1]`)
	y.write(".cursor/mcp.json", `{"mcpServers": {"a": {"command": 5}, "b": 7, "c": {"command": "x", "cwd": "/"}}}`)
	y.write(".claude/settings.json", `{"hooks": {"Stop": [5, {"hooks": [7]}, {"hooks": "x"}], "x": 5}}`)
	for name, make := range map[string]func(string) error{
		"fifo.json": func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"dir.json":  func(p string) error { return os.Mkdir(p, 0o700) },
		"link.json": func(p string) error { return os.Symlink(outside, p) },
	} {
		if err := make(filepath.Join(y.Dir, ".adze/tools", name)); err != nil {
			t.Fatal(err)
		}
	}
	y.write(".adze/tools/readsfifo.json", `{"command": ["cat", "pipe"]}`)
	if err := syscall.Mkfifo(filepath.Join(y.Dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for id, i := range y.items() {
		if i.State != trust.Broken || i.Problem == "" || i.Hash != "" {
			t.Errorf("%s is %s (%s)", id, i.State, i.Problem)
		}
	}
}
