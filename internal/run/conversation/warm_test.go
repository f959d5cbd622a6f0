package conversation

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/llm/credentials"
	"adze/internal/run/process"
	"adze/internal/run/settings"
)

// Choosing the model of a run dials its server at once. Before the first request an unknown server
// gets nothing but the question which kind it is, without a key.
func TestTheConnectionIsOpenedAhead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	base := "http://" + l.Addr().String()
	env := map[string]string{"OPENAI_BASE_URL": base, "ANTHROPIC_BASE_URL": base, "GEMINI_BASE_URL": base, "OLLAMA_HOST": base}
	getenv := func(name string) string { return env[name] }
	a := process.New(nil, cmd.Env{}, credentials.NewRing(getenv))
	for _, name := range []string{"openai/m", "responses/m", "anthropic/m", "gemini/m", "ollama/m"} {
		c := &choice{settings: &settings.Settings{Process: a, Config: config.Config{Model: name}}}
		ctx, cancel := context.WithCancel(t.Context())
		if err := c.useModel(ctx, newScope(nil, UserCallbacks{})); err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		cancel() // the run is over: what nobody took is closed
		sent, err := io.ReadAll(conn)
		first, head, _ := strings.Cut(string(sent), "\r\n")
		if err != nil || first != "" && !strings.HasPrefix(first, "GET /") || strings.Contains(head, "Authorization") {
			t.Errorf("%s: sent %q, %v", name, sent, err)
		}
		conn.Close()
	}
}
