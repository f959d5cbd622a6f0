package run_test

import (
	"strings"
	"testing"

	"adze/internal/testkit/mcptest"
)

// TestAQuestionAboutAServersToolAllowsThatTool: s takes the tool, whatever its arguments, and no
// other one of the server; the whole server is another choice, which says so.
func TestAQuestionAboutAServersToolAllowsThatTool(t *testing.T) {
	u := newUser(t)
	entry, _ := u.served(`old; tool ` + mcptest.Echo + `; tool {"name": "second", "description": "another one", "inputSchema": {"type": "object"}}`)
	u.configure(`{"mcp": {"servers": {"fake": ` + entry + `}}}`)
	u.run("mcp", "test", "fake").wants(0, "echo")
	p := u.openPane(100, 40)
	p.begin(u.script("-- 1 --\ncall fake_echo: {\"text\":\"one\"}\n-- 2 --\nexpect fake_echo completed: ^one\ncall fake_echo: {\"text\":\"two\"}\n"+
		"-- 3 --\nexpect fake_echo completed: ^two\ncall fake_second: {\"text\":\"three\"}\n-- 4 --\ntext: That is all.\n"), "--permission-mode=ask")
	p.sees("Ask, or say what to do")
	p.shell("go")
	p.sees("execute(mcp:fake echo)", "any call of the tool echo of the MCP server fake, whatever its arguments", "still asked: other tools", "y yes")
	p.keys("Tab")
	p.sees("execute(mcp:fake echo)", "kept in")
	p.keys("Tab")
	p.sees("execute(mcp:fake **)", "any call of any tool of the MCP server fake", "still asked: other servers")
	p.keys("Tab", "Tab")
	p.sees("execute(mcp:fake echo)", "for this session")
	p.keys("a")
	p.sees("execute(mcp:fake second)", "y yes")
	p.keys("n", "Enter")
	p.sees("That is all.")
	p.quit()
	if r := u.run("permission", "list").wants(0); strings.Contains(r.out, "mcp:fake") {
		t.Errorf("a rule of the session was saved:\n%s", r.out)
	}
}
