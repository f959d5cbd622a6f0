package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/tool"
)

// A server that was started anew knows no session of before: it answers 404, and the protocol wants
// a new session then. The call was not made, and is made in the new one.
func TestAServerThatForgotTheSession(t *testing.T) {
	var calls, starts atomic.Int32
	var inner atomic.Pointer[sdk.StreamableHTTPHandler]
	restart := func() {
		starts.Add(1)
		server := sdk.NewServer(&sdk.Implementation{Name: "acme"}, nil)
		sdk.AddTool(server, &sdk.Tool{Name: "count"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			calls.Add(1)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
		})
		inner.Store(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	}
	restart()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inner.Load().ServeHTTP(w, r) }))
	t.Cleanup(h.Close)
	p := pool(t, nil, func(o *Options) {
		o.Servers = []Server{{Name: "acme", URL: h.URL + "/mcp"}}
		o.HTTP = func(_ context.Context, s Server, use func(sdk.Transport)) error {
			use(&sdk.StreamableClientTransport{Endpoint: s.URL})
			return nil
		}
	})
	if err := p.Await(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, p)
	for n := range 3 {
		if n > 0 {
			restart()
		}
		if o := b.call(t.Context(), "acme_count", "{}"); o.Status != tool.Completed || o.Output != "done" || int(calls.Load()) != n+1 {
			t.Fatalf("call %d: %s %q, made %d times", n, o.Status, o.Output, calls.Load())
		}
	}
}
