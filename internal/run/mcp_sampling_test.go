package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"adze/internal/testkit/nodetest"
)

// asking is a server that asks the model, as its entry says.
func (u *user) asking(may string) {
	u.t.Helper()
	entry, _ := u.served("old")
	u.configure(`{"allow": ["execute(mcp:fake **)"], "mcp": {"servers": {"fake": ` + strings.TrimSuffix(entry, "}") + may + `}}}}`)
	u.run("mcp", "test", "fake").wants(0, "fake works")
}

// sampled is a script whose call has the server ask the model, and what the model is to answer it.
func sampled(want string) string {
	args, _ := json.Marshal(map[string]string{"text": `sample {"maxTokens":50,"messages":[{"role":"user","content":{"type":"text","text":"which colour"}}]}`}) // texts encode
	return "-- 1 --\ncall fake_echo: " + string(args) + "\n-- 2 --\nexpect fake_echo completed: " + want + "\ntext: done\nusage: input=10 output=10\n" +
		"-- sampling: 1 --\nexpect prompt: which colour\ntext: blue\nusage: input=400 output=3\n"
}

// Without a user a server asks the model only where the configuration allows it; it counts in the
// session, and budgets hold.
func TestAServerAsksTheModel(t *testing.T) {
	u := newUser(t)
	u.asking("")
	u.run("-p", u.script(sampled("code")), "go").wants(0, "done")
	u.asking(`, "sampling": "ask"`)
	u.run("-p", u.script(sampled("nobody is here")), "go").wants(0, "done")
	u.asking(`, "sampling": "allow"`)
	r := u.run("-p", "--output-format=stream-json", u.script(sampled(`"text":"blue".*endTurn`)), "go").wants(0, "which colour")
	if usage, _ := json.Marshal(r.result()["usage"]); !strings.Contains(string(usage), `"input":410`) || r.result()["turns"] != float64(3) {
		t.Errorf("the result counts %s in %v requests", usage, r.result()["turns"])
	}
	if !strings.Contains(r.out, `mcp_asked`) {
		t.Errorf("the call does not tell it: %s", r.out)
	}
	u.run("-p", "--max-tokens", "300", u.script(sampled("blue")), "go").wants(6, "")
	u.run("-p", "--max-turns", "2", u.script(sampled("the model did not answer")), "go").wants(6, "")
}

// Who holds a conversation is asked, and their answer counts.
func TestThePersonAnswersAServerThatAsksTheModel(t *testing.T) {
	u := newUser(t)
	u.asking(`, "sampling": "ask"`)
	p := u.program(u.script(sampled("blue")))
	p.says(`{"type":"prompt","id":"p1","text":"go"}`)
	p.until(`"kind":"inquiry"`)
	if !strings.Contains(p.seen.String(), "which colour") || !strings.Contains(p.seen.String(), "fake wants to ask the model") {
		t.Errorf("%s", p.seen.String())
	}
	p.says(`{"type":"answer","question":"q1","choice":"yes, this once"}`)
	p.until(`answered what the MCP server fake asked`)
	p.says(`{"type":"answer","question":"q2","choice":"yes, this once"}`)
	p.ends().wants(0, "done")
}

// The server of everything, of the npm registry, asks the model.
func TestTheServerOfEverythingAsksTheModel(t *testing.T) {
	program := nodetest.Program(t, "@modelcontextprotocol/server-everything", "mcp-server-everything")
	u := newUser(t)
	path, _ := json.Marshal(program) // a text encodes
	u.configure(`{"allow": ["execute(mcp:every **)"], "mcp": {"servers": {"every": {"command": ` + string(path) + `, "start_timeout": "2m", "sampling": "allow"}}}}`)
	u.run("mcp", "test", "every").wants(0, "trigger-sampling-request")
	u.run("-p", u.script("-- 1 --\ncall every_trigger-sampling-request: {\"prompt\":\"which colour\",\"maxTokens\":20}\n-- 2 --\nexpect every_trigger-sampling-request completed: blue\ntext: done\n"+
		"-- sampling: 1 --\nexpect prompt: which colour\ntext: blue\n"), "go").wants(0, "done")
}
