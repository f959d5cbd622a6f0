package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/testkit/nodetest"
)

// lends is a session/new with a server that the editor names.
func lends(id int, cwd, name, entry string) string {
	var e struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	_ = json.Unmarshal([]byte(entry), &e) // served wrote it
	raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "session/new", "params": map[string]any{
		"cwd": cwd, "mcpServers": []any{map[string]any{"name": name, "command": e.Command, "args": e.Args, "env": []any{}}},
	}})
	return string(raw)
}

// TestAServerOfAnEditorIsAskedAbout: nothing starts with the session; the first prompt asks, by
// what would run, once; who says no has a session without it.
func TestAServerOfAnEditorIsAskedAbout(t *testing.T) {
	u := newUser(t)
	entry, starts := u.served("old")
	none := "-- 1 --\ncall my-server_echo: {\"text\":\"x\"}\n-- 2 --\nexpect my-server_echo invalid: .\ntext: without it\n-- 3 --\ntext: not asked again\n"
	w := u.wire(u.script(none))
	w.says(lends(1, u.dir, "my server", entry))
	id := w.until(`"id":1,"result"`)["result"].(map[string]any)["sessionId"].(string)
	w.says(prompting(2, id, "go"))
	asked := w.until("session/request_permission", "be-an-mcp-server", "sha256", "do not start it", `"kind":"reject_once"`)
	question, _ := json.Marshal(asked["id"]) // it was decoded
	if n := startsIn(t, starts); n != 0 {
		t.Errorf("%d starts before anybody agreed", n)
	}
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"choice:2"}}}`, question))
	w.hears("without it")
	w.until(`"id":2,"result"`, "end_turn")
	w.says(prompting(3, id, "go on"))
	w.hears("not asked again")
	w.in.Close()
	if code := w.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := startsIn(t, starts); n != 0 {
		t.Errorf("%d starts", n)
	}
}

// TestServersOfAnEditorWork: the official client lends a server of the npm registry; its tools are
// there in the turn that asked. What was allowed for the folder is not asked about in the next
// session, but is when its definition changed; one of a name of the configuration is not used.
func TestServersOfAnEditorWork(t *testing.T) {
	program := nodetest.Program(t, "@modelcontextprotocol/server-everything", "mcp-server-everything")
	u := newUser(t)
	u.configure(`{"mcp": {"servers": {"mine": {"command": "there-is-none"}}}, "allow": ["execute(mcp:every-thing **)"]}`)
	echo := "-- 1 --\ncall every-thing_echo: {\"message\":\"hi\"}\n-- 2 --\nexpect every-thing_echo %s: .\ntext: done\n"
	works, lacks := u.script(fmt.Sprintf(echo, "completed")), ""
	lacks = strings.Replace(u.scripts(fmt.Sprintf(echo, "invalid"))[0], "script/", "--model=script/", 1)
	scenario := fmt.Sprintf(`
const server = (args) => ({ name: "every thing", command: %q, args, env: [{ name: "LENT", value: "1" }] });
const run = async (name, answer, args, ...more) => {
  const e = connect({ args: more, permit: (p) => p.options.find((o) => o.name.startsWith(answer))?.optionId });
  await e.init();
  const s = await e.request("session/new", { cwd: folder, mcpServers: [server(args), { ...server(args), name: "mine" }] });
  const end = await e.prompt(s.sessionId, "go");
  say(name, { asked: e.asked.length, question: JSON.stringify(e.asked), end: end.stopReason, told: e.updates.map((n) => n.update.content?.text).filter(Boolean).join(" ") });
  await e.leave();
};
await run("first", "start it in this folder", ["stdio"], %q);
await run("second", "never asked", ["stdio"], %q);
await run("changed", "do not", ["stdio", "more"], %q);
`, program, works, works, lacks)
	said, _ := u.editor(scenario)
	wants(t, said, "first", `"asked":1`, "LENT", "mcp-server-everything", "mine of the editor is not used", "done")
	wants(t, said, "second", `"asked":0`, "done")
	wants(t, said, "changed", `"asked":1`, "more", "done")
}

// TestServersOfAnEditorWithAnAddress: an editor hands over servers of both transports that adze
// says it speaks, and their tools are called.
func TestServersOfAnEditorWithAnAddress(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "acme"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "echo"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "it was called"}}}, nil, nil
	})
	one := func(*http.Request) *sdk.Server { return server }
	for kind, handler := range map[string]http.Handler{"http": sdk.NewStreamableHTTPHandler(one, nil), "sse": sdk.NewSSEHandler(one, nil)} {
		t.Run(kind, func(t *testing.T) {
			h := httptest.NewServer(handler)
			t.Cleanup(h.Close)
			u := newUser(t)
			u.configure(`{"allow": ["execute(mcp:acme **)"]}`)
			w := u.wire(u.script("-- 1 --\ncall acme_echo: {}\n-- 2 --\nexpect acme_echo completed: it was called\ntext: done\n"))
			w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[{"type":%q,"name":"acme","url":%q,"headers":[]}]}}`, u.dir, kind, h.URL))
			id := w.until(`"id":1,"result"`)["result"].(map[string]any)["sessionId"].(string)
			w.says(prompting(2, id, "go"))
			question, _ := json.Marshal(w.until("session/request_permission", "start it, for this session")["id"]) // it was decoded
			w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"choice:0"}}}`, question))
			w.hears("done")
			w.until(`"id":2,"result"`, "end_turn")
			w.in.Close()
			if code := w.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
