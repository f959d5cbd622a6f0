package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/testkit/nodetest"
)

// TestAnMCPServerIsHeldByTheSandbox has a real server, which by its own rules may write anywhere,
// write into the workspace and outside of it.
func TestAnMCPServerIsHeldByTheSandbox(t *testing.T) {
	program := nodetest.Program(t, "@modelcontextprotocol/server-filesystem", "mcp-server-filesystem")
	u := newUser(t)
	sandboxed(t, u)
	outside := outside(t)
	u.configure(fmt.Sprintf(`{"mcp": {"servers": {"fs": {"command": %q, "args": ["/"]}}}}`, program))
	u.run("mcp", "test", "fs").wants(0, "14 tools")
	write := func(path string) string {
		return fmt.Sprintf("call fs_write_file: {\"path\":%q,\"content\":\"x\"}\n", path)
	}
	r := u.run("-p", "--output-format", "stream-json", "--sandbox", "required", "--allow", "execute(mcp:fs **)",
		u.script("-- 1 --\n"+write(filepath.Join(outside, "escaped"))+write(filepath.Join(u.dir, "inside"))+"-- 2 --\ntext: done\n"), "go").wants(0)
	if ends := r.ends(); len(ends) != 2 || ends[0] != "fs_write_file failed failed" || ends[1] != "fs_write_file completed" {
		t.Errorf("%q", ends)
	}
	if _, err := os.Stat(filepath.Join(outside, "escaped")); err == nil {
		t.Error("the server wrote outside of the workspace")
	}
	if _, err := os.Stat(filepath.Join(u.dir, "inside")); err != nil {
		t.Error(err)
	}
	// Without walls the same server may do both: the sandbox was what held it.
	u.run("-p", "--sandbox", "off", "--allow", "execute(mcp:fs **)", u.script("-- 1 --\n"+write(filepath.Join(outside, "escaped"))+"-- 2 --\ntext: done\n"), "go").wants(0)
	if _, err := os.Stat(filepath.Join(outside, "escaped")); err != nil {
		t.Error("the test shows nothing:", err)
	}
}
