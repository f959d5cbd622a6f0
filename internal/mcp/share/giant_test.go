package share

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/mcp"
	"adze/internal/testkit/mcptest"
	"adze/internal/testkit/posix"
	"adze/tool"
)

func TestMain(m *testing.M) {
	mcptest.Serve()
	os.Exit(m.Run())
}

// giant is a service whose every answer to a read or a call has a gigabyte, as JSON or as an event.
// Done is closed when the first of them is no longer written.
type giant struct {
	kind string // of its answers
	done chan struct{}
	once sync.Once
}

func (g *giant) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	raw, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || json.Unmarshal(raw, &m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch m.Method {
	case "initialize":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"giant","version":"1"}}}`, m.ID)
	case "tools/list":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, mcptest.Echo)
	case "resources/list", "resources/templates/list":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resources":[],"resourceTemplates":[]}}`, m.ID)
	case "resources/read", "tools/call":
		defer g.once.Do(func() { close(g.done) })
		w.Header().Set("Content-Type", g.kind)
		if g.kind == "text/event-stream" {
			fmt.Fprint(w, "event: message\ndata: ")
		}
		mcptest.Gigabyte(w, string(m.ID))
	case "notifications/initialized", "notifications/cancelled":
		w.WriteHeader(http.StatusAccepted)
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

// everything are the tools of a server and the one that reads its resources.
func everything(t *testing.T, s *Catalog) func(name, args string) tool.Outcome {
	t.Helper()
	var registry tool.Registry
	problems := s.pool.RegisterTools(&registry)
	if err := registry.Register(s.Tool()); err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	allow := tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })
	r := tool.Runner{Gate: allow}
	return func(name, args string) tool.Outcome {
		return r.Exec(within(t), r.Hydrate(within(t), set, []tool.RawCall{{ID: "1", Name: name, Arguments: args}})[0])
	}
}

// TestAnAnswerOfAGigabyteIsOneOutcome: of a resource and of a tool, over pipes and over HTTP in
// both forms: the call fails and says why, hardly any of it was ever held, nobody goes on writing,
// and the next call begins anew.
func TestAnAnswerOfAGigabyteIsOneOutcome(t *testing.T) {
	const mostHeld = 64 << 20 // bytes that were allocated in all, and not only at once
	for _, c := range []struct{ wire, tool, args string }{
		{"stdio", ToolName, `{"server":"acme","uri":"doc://giant"}`},
		{"stdio", "acme_echo", `{"text":"x"}`},
		{"application/json", ToolName, `{"server":"acme","uri":"doc://giant"}`},
		{"application/json", "acme_echo", `{"text":"x"}`},
		{"text/event-stream", ToolName, `{"server":"acme","uri":"doc://giant"}`},
		{"text/event-stream", "acme_echo", `{"text":"x"}`},
	} {
		t.Run(c.wire+" "+c.tool, func(t *testing.T) {
			conf, g := mcp.Server{Name: "acme", Start: 2 * time.Minute}, &giant{kind: c.wire, done: make(chan struct{})}
			if c.wire == "stdio" {
				self, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				conf.Command = []string{self, mcptest.Word, "old; gigabyte at resources/read; gigabyte at tools/call"}
			} else {
				h := httptest.NewServer(g)
				t.Cleanup(h.Close)
				conf.URL = h.URL
			}
			s := on(t, conf)
			if err := s.pool.Await(within(t), "acme"); err != nil {
				t.Fatal(err)
			}
			pid := s.pool.States()[0].PID
			call := everything(t, s)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out := call(c.tool, c.args)
			runtime.ReadMemStats(&after)
			if out.Status != tool.Failed || !strings.Contains(out.Output, "more than ") {
				t.Errorf("%s: %s", out.Status, out.Output)
			}
			if held := after.TotalAlloc - before.TotalAlloc; held > mostHeld {
				t.Errorf("%d MB were allocated for it", held>>20)
			}
			if c.wire != "stdio" {
				select {
				case <-g.done:
				case <-within(t).Done():
					t.Error("the answer is still read")
				}
				return
			}
			for ctx := within(t); posix.Alive(pid); runtime.Gosched() {
				if ctx.Err() != nil {
					t.Fatal("its program runs on")
				}
			}
		})
	}
}
