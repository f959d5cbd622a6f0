package dial

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
	"adze/internal/testkit/nodetest"
)

func desk(t *testing.T) oauth.Manager {
	return oauth.Manager{Store: oauth.Store{File: filepath.Join(t.TempDir(), "logins.json")}}
}

func pool(t *testing.T, d oauth.Manager, s mcp.Server) *mcp.Pool {
	t.Helper()
	p := mcp.New(mcp.Options{Version: "test", Servers: []mcp.Server{s}, HTTP: Opener(d)})
	t.Cleanup(p.Close)
	return p
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// The real server of the npm registry, over streamable HTTP.
func TestServerEverythingOverHTTP(t *testing.T) {
	program := nodetest.Program(t, "@modelcontextprotocol/server-everything", "mcp-server-everything")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	c := exec.Command(program, "streamableHttp")
	c.Env = append(c.Environ(), "PORT="+port)
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal("it ended", err)
		}
		if strings.Contains(line, port) {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	p := pool(t, desk(t), mcp.Server{Name: "everything", URL: "http://127.0.0.1:" + port + "/mcp", Start: 2 * time.Minute})
	s, release, err := p.Session(within(t), "everything")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	got, err := s.CallTool(within(t), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"message": "hello"}})
	if err != nil || !strings.Contains(got.Content[0].(*sdk.TextContent).Text, "hello") {
		t.Fatalf("%+v, %v", got, err)
	}
	if st := p.States()[0]; st.State != mcp.Ready || st.Tools < 10 {
		t.Errorf("%+v", st)
	}
}

// service is an MCP server of the SDK's that wants a token.
func service(t *testing.T, valid *atomic.Value) string {
	server := sdk.NewServer(&sdk.Implementation{Name: "acme"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "long"}, func(_ context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", 8<<20+5000)}}}, nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "short"}, func(_ context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
	})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := valid.Load().(string); token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h.URL + "/mcp"
}

func text(s string) *atomic.Value {
	v := &atomic.Value{}
	v.Store(s)
	return v
}

// Without a login the server fails with the command to run, at once and after one attempt; with one
// it is used.
func TestAServerThatWantsALogin(t *testing.T) {
	s := mcp.Server{Name: "acme", URL: service(t, text("good"))}
	d := desk(t)
	p := pool(t, d, s)
	err := p.Await(within(t), "acme")
	if err == nil || !strings.Contains(err.Error(), "acme wants a login: run adze mcp login acme") {
		t.Fatal(err)
	}
	server, err := Server(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Store.Keep(server.URL, oauth.Login{Resource: s.URL, Issuer: "https://issuer.example", Token: "https://issuer.example/token", Access: "good"}); err != nil {
		t.Fatal(err)
	}
	p.Stop("acme")
	again := pool(t, d, s)
	if err := again.Await(within(t), "acme"); err != nil {
		t.Fatal(err)
	}
}

// TestALongAnswerIsAnErrorOfItsCall, and the next call goes through on the same conversation.
func TestALongAnswerIsAnErrorOfItsCall(t *testing.T) {
	p := pool(t, desk(t), mcp.Server{Name: "acme", URL: service(t, text(""))})
	s, release, err := p.Session(within(t), "acme")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	got, err := s.CallTool(within(t), &sdk.CallToolParams{Name: "long"})
	if err == nil || !strings.Contains(err.Error(), "more than 8 MB") {
		t.Fatal(got, err)
	}
	got, err = s.CallTool(within(t), &sdk.CallToolParams{Name: "short"})
	if err != nil || got.Content[0].(*sdk.TextContent).Text != "done" {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestAddressesThatAreNotDialled(t *testing.T) {
	for _, raw := range []string{"", "ftp://a.example", "https://user:pass@a.example/mcp", "a.example/mcp", "file:///etc/passwd", "http://\x00"} {
		err := Opener(desk(t))(t.Context(), mcp.Server{Name: "a", URL: raw}, func(sdk.Transport) { t.Error("dialled", raw) })
		if !errors.Is(err, mcp.ErrFinal) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
