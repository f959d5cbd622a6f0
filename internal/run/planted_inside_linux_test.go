package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What takes code from the folder, and was not allowed to, runs in a full sandbox: it reaches
// nothing outside of it.
func TestWhatTakesCodeRunsInTheSandbox(t *testing.T) {
	n := newNest(t)
	n.has("make")
	n.env = n.plain
	sandboxed(t, n.user)
	outside := outside(t)
	escaped := filepath.Join(outside, "escaped")
	n.file("Makefile", "all:\n\t@echo x >> ran\n\t@echo x >> '"+escaped+"' || true\n\t@cat\n")
	n.configure(jsonOf(map[string]any{"permission_mode": "edits", "formatters": map[string]any{"txt": map[string]any{"command": []string{"make", "-s", "all"}, "files": []string{".txt"}}}}))
	run := func(name string) {
		t.Helper()
		n.run("-p", n.script("-- 1 --\ncall write: {\"path\": \""+name+"\", \"content\": \"two\\n\"}\n-- 2 --\ntext: done\n"), "go").wants(0, "done")
		if _, err := os.Stat(filepath.Join(n.dir, "ran")); err != nil {
			t.Error("the formatter did not run:", err)
		}
		_ = os.Remove(filepath.Join(n.dir, "ran"))
	}
	run("one.txt")
	if _, err := os.Stat(escaped); err == nil {
		t.Error("it ran outside of the sandbox")
	}
	n.run("trust", "allow", "formatter:txt@config").wants(0)
	run("two.txt")
	if _, err := os.Stat(escaped); err != nil {
		t.Error("what was allowed runs as the user runs it:", err)
	}
}

// A server keeps its folder in the sandbox.
func TestAServersFolderIsThereInTheSandbox(t *testing.T) {
	n := newNest(t)
	n.has("python3")
	n.env = n.plain
	sandboxed(t, n.user)
	own, err := filepath.Abs("testdata/own")
	if err != nil || strings.HasPrefix(own, "/tmp/") || strings.HasPrefix(own, "/var/tmp/") {
		t.Skip("a sandbox has a /tmp of its own, and does not show that of others:", own, err)
	}
	n.configure(jsonOf(map[string]any{"tools": map[string]any{"offer_above": 5}, "sandbox": map[string]any{"read": []string{own}}, "mcp": map[string]any{"servers": map[string]any{"w": map[string]any{"command": "python3", "args": []string{filepath.Join(own, "where.py")}}}}}))
	n.where(t, "^cwd=/run/adze/own its own helper args= roots=file://"+n.dir+"$", "--sandbox", "required")
	n.where(t, "^cwd=/run/adze/own ", "--sandbox", "required")
	if kept, err := os.ReadFile(filepath.Join(n.home, "state", "mcp", "folders", "w", "kept")); err != nil || string(kept) != "xx" {
		t.Errorf("%q %v", kept, err)
	}
}
