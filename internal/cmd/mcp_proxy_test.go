package cmd_test

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tunnel is a proxy that leads each connection to one address, whatever name was asked for.
func tunnel(t *testing.T, to string) (url string, asked func() []string) {
	t.Helper()
	var names atomic.Pointer[[]string]
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		old, now := names.Load(), []string{r.Method + " " + r.Host}
		if old != nil {
			now = append(*old, now...)
		}
		names.Store(&now)
		there, err := net.Dial("tcp", to)
		if err != nil || r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, rest, err := http.NewResponseController(w).Hijack()
		if err != nil {
			there.Close()
			return
		}
		io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(there, rest); there.Close() }()
		io.Copy(here, there)
		here.Close()
	}))
	t.Cleanup(h.Close)
	return h.URL, func() []string {
		if all := names.Load(); all != nil {
			return *all
		}
		return nil
	}
}

// TestAnMCPServerIsReachedThroughTheProxyOfTheEnvironment: where only a proxy leads outside, its
// name is what the proxy is asked for, and adze does not look it up; NO_PROXY and what is on this
// machine go without.
func TestAnMCPServerIsReachedThroughTheProxyOfTheEnvironment(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "acme"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "hello", Description: "says hello"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	behind := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "localhost" // it would take another name on this machine for an attack
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(behind.Close)
	proxy, asked := tunnel(t, strings.TrimPrefix(behind.URL, "https://"))
	u := newUser(t)
	certificate := filepath.Join(u.home, "ca.pem") // of package httptest, for example.com
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: behind.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "HTTPS_PROXY="+proxy, "SSL_CERT_FILE="+certificate)
	u.serves("https://example.com/mcp")
	u.run("mcp", "test", "acme").wants(0, "acme works", "hello")
	if names := asked(); len(names) == 0 || names[0] != "CONNECT example.com:443" {
		t.Errorf("the proxy was asked for %v", names)
	}
	before := len(asked())
	u.serves(behind.URL + "/mcp")
	u.run("mcp", "test", "acme").wants(0, "acme works")
	if now := asked(); len(now) != before {
		t.Errorf("the proxy was asked for what is on this machine: %v", now[before:])
	}
}
