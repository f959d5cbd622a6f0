package dial

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
)

// A server of the transport of 2024-11-05 is spoken with where the configuration says so, with a
// login where it wants one.
func TestAServerOfTheOldTransport(t *testing.T) {
	var valid atomic.Value
	valid.Store("")
	server := sdk.NewServer(&sdk.Implementation{Name: "acme"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "echo"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
	})
	inner := sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := valid.Load().(string); token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	s := mcp.Server{Name: "acme", URL: h.URL + "/sse", SSE: true}
	d := desk(t)
	talk := func() {
		t.Helper()
		p := pool(t, d, s)
		defer p.Close()
		session, release, err := p.Session(within(t), "acme")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		got, err := session.CallTool(within(t), &sdk.CallToolParams{Name: "echo"})
		if err != nil || got.Content[0].(*sdk.TextContent).Text != "done" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	talk()
	valid.Store("good")
	if err := pool(t, d, s).Await(within(t), "acme"); err == nil || !strings.Contains(err.Error(), "acme wants a login: run adze mcp login acme") {
		t.Fatal(err)
	}
	at, err := Server(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Store.Keep(at.URL, oauth.Login{Resource: s.URL, Issuer: "https://issuer.example", Token: "https://issuer.example/token", Access: "good"}); err != nil {
		t.Fatal(err)
	}
	talk()
}
