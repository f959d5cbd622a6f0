package dial

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/tool"
)

// A server that was started anew knows no session of before: it answers 404, and the protocol wants a new session then.
// The call was not made, and is made in the new one.
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
	p := pool(t, desk(t), mcp.Server{Name: "acme", URL: h.URL + "/mcp"})
	if err := p.Await(within(t), "acme"); err != nil {
		t.Fatal(err)
	}
	var registry tool.Registry
	p.Enlist(&registry)
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	runner := tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
	for n := range 3 {
		if n > 0 {
			restart()
		}
		h := runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "acme_count", Arguments: "{}"}})
		if o := runner.Exec(within(t), h[0]); o.Status != tool.Completed || o.Output != "done" || int(calls.Load()) != n+1 {
			t.Fatalf("call %d: %s %q, made %d times", n, o.Status, o.Output, calls.Load())
		}
	}
}
