package cmd_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// acme is a service that shares a resource and a prompt, and asks the user before it answers.
func (u *user) acme(token string) (url string) {
	u.t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "acme"}, nil)
	server.AddResource(&sdk.Resource{URI: "doc://one", Name: "one"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "doc://one", Text: "the text of one"}}}, nil
	})
	server.AddPrompt(&sdk.Prompt{Name: "greet", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Greet " + r.Params.Arguments["who"]}}}}, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "ask", Description: "asks the person"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		got, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Which colour?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}}})
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "the person did " + got.Action}}}, nil, nil
	})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	u.t.Cleanup(h.Close)
	return h.URL + "/mcp"
}

func (u *user) serves(url string) {
	raw, _ := json.Marshal(map[string]any{"allow": []string{"execute(mcp:acme **)"}, "mcp": map[string]any{"servers": map[string]any{"acme": map[string]any{"url": url}}}}) // it encodes
	u.configure(string(raw))
}

// A resource that a prompt names, a prompt by its name, and a question with nobody there: of a
// server with an address.
func TestWhatAServerSharesReachesTheModel(t *testing.T) {
	u := newUser(t)
	u.serves(u.acme(""))
	u.run("mcp", "test", "acme").wants(0, "acme works")
	steps := "-- 1 --\ncall mcp_resource: {\"server\":\"acme\"}\n-- 2 --\nexpect mcp_resource completed: doc://one\n" +
		"call acme_ask: {}\n-- 3 --\nexpect acme_ask completed: the person did decline\ntext: done\n"
	u.run("-p", u.script(steps), "look at @acme:doc://one").wants(0, "done")
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "/acme:greet Ann").wants(0, "done")
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "/acme:greet").wants(2, "")
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "look at @acme:doc://nine").wants(2, "")
}

// A server that wants a login says so with the command to run, and no browser opens in a run
// without a user.
func TestAServerThatWantsALoginNamesTheCommand(t *testing.T) {
	u := newUser(t)
	u.serves(u.acme("token"))
	r := u.run("mcp", "test", "acme")
	if r.code == 0 || !strings.Contains(r.out+r.err, "adze mcp login acme") {
		t.Errorf("%d: %s%s", r.code, r.out, r.err)
	}
	u.run("mcp", "list", "--json").wants(0, `"state":"needs login"`)
	u.look("acme needs login", "adze mcp login acme")
}
