package cmd_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAProgramOfOthersIsAskedAboutProcesses: a client of adze mcp serve sees the processes of the
// user when that is allowed, and no secret among their arguments.
func TestAProgramOfOthersIsAskedAboutProcesses(t *testing.T) {
	const hidden = "hunter2hunter2"
	other := exec.Command("sh", "-c", "read line", "sh", "1000", "--password="+hidden)
	if _, err := other.StdinPipe(); err != nil { // it waits for a line
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	u := newUser(t)
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_processes","arguments":{"filter":"1000 --password"}}}
`
	r := u.runWith(strings.NewReader(lines), "mcp", "serve").wants(0, `"isError":true`, "read(abs:/proc)")
	if strings.Contains(r.out, "--password=") {
		t.Errorf("it was not asked about: %s", r.out)
	}
	r = u.runWith(strings.NewReader(lines), "mcp", "serve", "--allow", "read(abs:/proc)").wants(0, "sh 1000 --password=[masked]")
	if strings.Contains(r.out, hidden) {
		t.Errorf("the password of a process is shown: %s", r.out)
	}
}
