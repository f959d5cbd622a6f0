package mcp

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/testkit/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Serve()
	os.Exit(m.Run())
}

// patience is how long a test waits for what has to come, however loaded the machine is.
const patience = 2 * time.Minute

// pool is a pool of servers of the test binary, each with how it behaves; change may change its
// options.
func pool(t *testing.T, servers map[string]string, change func(*Options)) *Pool {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Version: "test", Dir: dir, Env: os.Environ, Probe: patience, Idle: patience}
	for name, how := range servers {
		o.Servers = append(o.Servers, fake(t, name, how))
	}
	if change != nil {
		change(&o)
	}
	p := New(o)
	t.Cleanup(p.Close)
	return p
}

func fake(t *testing.T, name, how string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: name, Command: []string{self, mcptest.Word, how}, Start: patience}
}

// says calls the tool echo.
func says(ctx context.Context, t *testing.T, p *Pool, text string) (string, error) {
	t.Helper()
	s, release, err := p.Session(ctx, "fake")
	if err != nil {
		return "", err
	}
	defer release()
	out, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": text}})
	if err != nil {
		return "", err
	}
	return out.Content[0].(*sdk.TextContent).Text, nil
}
