package cmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestTheTerminalAsksWhereOneLogsIn: a server that names other issuers is followed to none that the
// user did not choose.
func TestTheTerminalAsksWhereOneLogsIn(t *testing.T) {
	var issuers string
	var asked []string
	s := httptest.NewServer(nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%s]}`, s.URL+"/mcp", issuers)
			return
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	})
	t.Cleanup(s.Close)
	u := newUser(t)
	u.configure(`{"mcp": {"servers": {"acme": {"url": "` + s.URL + `/mcp"}}}}`)
	for _, c := range []struct {
		issuers, types string
		says           []string
	}{
		{`"http://127.0.0.1:1/a"`, "n\n", []string{"acme sends logins to another origin: http://127.0.0.1:1/a", "log in there? [y/N]", "--issuer http://127.0.0.1:1/a"}},
		{`"http://127.0.0.1:1/a"`, "y\n", []string{"log in there? [y/N]", "nothing answers at 127.0.0.1:1"}},
		{`"http://127.0.0.1:1/a","http://127.0.0.1:2/b"`, "2\n", []string{"acme takes logins of several", "1  http://127.0.0.1:1/a", "[1-2, nothing for none]", "nothing answers at 127.0.0.1:2"}},
		{`"http://127.0.0.1:1/a","http://127.0.0.1:2/b"`, "3\n", []string{"--issuer http://127.0.0.1:1/a, or --issuer http://127.0.0.1:2/b"}},
	} {
		issuers = c.issuers
		terminal, err := pty.Start(u.command("mcp", "login", "acme"))
		if err != nil {
			t.Skip("no terminal here:", err)
		}
		if _, err := io.WriteString(terminal, c.types); err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(terminal) // a terminal whose program has ended is an error
		terminal.Close()
		for _, part := range c.says {
			if !strings.Contains(strings.Join(strings.Fields(string(said)), " "), strings.Join(strings.Fields(part), " ")) {
				t.Errorf("%s, %q: it does not say %q:\n%s", c.issuers, c.types, part, said)
			}
		}
	}
	if paths := strings.Join(asked, " "); strings.Contains(paths, "authorize") {
		t.Errorf("asked %s", paths)
	}
}
