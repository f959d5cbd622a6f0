package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const secretToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// listening serves over HTTP until the test ends, and says where.
func listening(t *testing.T, s *Server) (addr string, stop func()) {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); _ = s.HTTP(ctx, l, secretToken) }()
	stop = sync.OnceFunc(func() { cancel(); <-over })
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// bearer sends the token.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+secretToken)
	return b.RoundTripper.RoundTrip(r)
}

// dialed connects a client; gone ends its connections as a kill does.
func dialed(t *testing.T, addr, era string, o *mcp.ClientOptions) (c *mcp.ClientSession, gone func()) {
	t.Helper()
	var mu sync.Mutex
	var conns []net.Conn
	dead := false
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		mu.Lock()
		defer mu.Unlock()
		if dead && c != nil {
			c.Close()
			return nil, io.ErrClosedPipe
		}
		conns = append(conns, c)
		return c, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "2"}, o).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: "http://" + addr + Path, HTTPClient: &http.Client{Transport: bearer{transport}}}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		mu.Lock()
		defer mu.Unlock()
		dead = true
		for _, c := range conns {
			c.Close()
		}
	}
}

func TestOverHTTP(t *testing.T) {
	for _, era := range eras {
		s, d := newServer(t)
		addr, stop := listening(t, s)
		told := make(chan string, 8)
		o := answers("accept", "session")
		o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message }
		one, _ := dialed(t, addr, era, o)
		two, _ := dialed(t, addr, era, answers("decline", ""))
		for c, want := range map[*mcp.ClientSession]string{one: "session", two: "no"} {
			if list, err := c.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 4 {
				t.Fatal(era, list, err)
			}
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
			if err != nil || !strings.HasPrefix(textOf(r), want) {
				t.Errorf("%s: %+v %v, want %s", era, r, err, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		p := &mcp.CallToolParams{Name: "hang"}
		p.SetProgressToken(1)
		over := make(chan error, 1)
		go func() { _, err := one.CallTool(ctx, p); over <- err }()
		if got := <-told; got != "hangs" {
			t.Errorf("told %q", got)
		}
		cancel()
		<-over
		eventually(t, "the call ends", func() bool { n, _ := d.count(); return n == 1 })
		one.Close()
		two.Close()
		stop()
		if _, closed := d.count(); closed == 0 {
			t.Errorf("%s: the desks stay open", era)
		}
	}
}

// A client that is killed over HTTP takes its calls along at once, and soon all that it left.
func TestAClientOfHTTPDies(t *testing.T) {
	for _, era := range eras {
		s, d := newServer(t)
		s.idle = 50 * time.Millisecond
		addr, _ := listening(t, s)
		c, gone := dialed(t, addr, era, nil)
		go c.CallTool(t.Context(), &mcp.CallToolParams{Name: "hang"})
		<-d.begun
		gone()
		eventually(t, era+": the call ends and the fakeRunner is closed", func() bool { ended, closed := d.count(); return ended == 1 && closed == 1 })
		go c.Close()
	}
}

func TestWhoMayCome(t *testing.T) {
	s, d := newServer(t)
	addr, _ := listening(t, s)
	_, port, _ := net.SplitHostPort(addr)
	call := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	good := map[string]string{"Authorization": "Bearer " + secretToken, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	for _, c := range []struct {
		name, method, host, path, body string
		headers                        map[string]string
		want                           int
	}{
		{name: "the token", want: 200},
		{name: "localhost", host: "localhost:" + port, want: 200},
		{name: "our own origin", headers: map[string]string{"Origin": "http://" + addr}, want: 200},
		{name: "a person's address bar", headers: map[string]string{"Sec-Fetch-Site": "none"}, want: 200},
		{name: "no token", headers: map[string]string{"Authorization": ""}, want: 401},
		{name: "a wrong token", headers: map[string]string{"Authorization": "Bearer x" + secretToken[1:]}, want: 401},
		{name: "part of the token", headers: map[string]string{"Authorization": "Bearer " + secretToken[:63]}, want: 401},
		{name: "the token as a password", headers: map[string]string{"Authorization": "Basic " + secretToken}, want: 401},
		{name: "the token in the address", path: Path + "?token=" + secretToken, headers: map[string]string{"Authorization": ""}, want: 401},
		{name: "a rebound name", host: "evil.example:" + port, want: 403},
		{name: "a name that begins as ours", host: "localhost.evil.example:" + port, want: 403},
		{name: "another port", host: "127.0.0.1:1", want: 403},
		{name: "no port", host: "127.0.0.1", want: 403},
		{name: "0.0.0.0", host: "0.0.0.0:" + port, want: 403},
		{name: "a foreign origin", headers: map[string]string{"Origin": "https://evil.example"}, want: 403},
		{name: "another server of this machine", headers: map[string]string{"Origin": "http://127.0.0.1:1"}, want: 403},
		{name: "a sandboxed page", headers: map[string]string{"Origin": "null"}, want: 403},
		{name: "a page of another site", headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: 403},
		{name: "a page of the same site", headers: map[string]string{"Sec-Fetch-Site": "same-site"}, want: 403},
		{name: "what a browser asks first", method: http.MethodOptions, headers: map[string]string{"Origin": "https://evil.example", "Authorization": ""}, want: 401},
		{name: "another path", path: "/", want: 404},
		{name: "a form", headers: map[string]string{"Content-Type": "text/plain"}, want: 415},
		{name: "a huge body", body: strings.Repeat(" ", maxBody+1), want: 413},
		{name: "garbage", body: "\xff{", want: 400},
		{name: "a session of nobody", headers: map[string]string{"Mcp-Session-Id": "x"}, want: 404},
		{name: "a stream of nobody", method: http.MethodGet, want: 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			method, path, body := c.method, c.path, c.body
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = Path
			}
			if body == "" {
				body = call
			}
			r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range good {
				r.Header.Set(k, v)
			}
			for k, v := range c.headers {
				if r.Header.Set(k, v); v == "" {
					r.Header.Del(k)
				}
			}
			r.Host = c.host
			answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			if answer.StatusCode != c.want {
				t.Errorf("%d %s, want %d", answer.StatusCode, text, c.want)
			}
			if answer.Header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(string(text), secretToken) {
				t.Errorf("it gives away too much: %v %s", answer.Header, text)
			}
		})
	}
	if len(d.begun) > 0 {
		t.Error("a call was made")
	}
}

// A reader that stands still loses its connection and holds up nobody.
func TestAReaderThatStandsStill(t *testing.T) {
	s, _ := newServer(t)
	addr, stop := listening(t, s)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", Path, addr, secretToken, len(body), body)
	if status, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(status, "200") {
		t.Fatal(status, err)
	}
	other, _ := dialed(t, addr, "2025-11-25", answers("accept", "once"))
	if r, err := other.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"}); err != nil || r.IsError {
		t.Errorf("another client: %+v %v", r, err)
	}
	go other.Close()
	stop() // with a stream that nobody reads
}

func TestWhereItListens(t *testing.T) {
	for addr, ok := range map[string]bool{":0": true, "localhost:0": true, "127.0.0.1:0": true, "0.0.0.0:0": false, "192.168.1.1:0": false, "example.com:80": false, "8080": false} {
		l, err := Listen(addr)
		if (err == nil) != ok {
			t.Errorf("%s: %v", addr, err)
		}
		if err == nil {
			if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
				t.Errorf("%s listens on %s", addr, l.Addr())
			}
			l.Close()
		}
	}
}

func TestTheTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	made, err := TokenFile(path)
	if err != nil || len(made) != 64 {
		t.Fatal(made, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %s", info.Mode())
	}
	if again, err := TokenFile(path); err != nil || again != made {
		t.Errorf("read again it is %q, %v", again, err)
	}
	os.Chmod(path, 0o644)
	if _, err := TokenFile(path); err == nil {
		t.Error("a token that others may read is taken")
	}
	os.Chmod(path, 0o600)
	os.WriteFile(path, []byte("short\n"), 0o600)
	if _, err := TokenFile(path); err == nil {
		t.Error("a short token is taken")
	}
	if a, b := Token(), Token(); a == b || len(a) != 64 {
		t.Error("tokens repeat")
	}
}

// TestBoundsOfHTTP: a body that is too long is refused and not taken, more sessions than there may
// be are told to wait, and those that are there go on; a place that one leaves is given to the
// next.
func TestBoundsOfHTTP(t *testing.T) {
	s, _ := newServer(t)
	addr, _ := listening(t, s)
	client := &http.Client{Transport: bearer{http.DefaultTransport}}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	ask := func(method, session, body string) (int, string, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+Path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header.Get("Mcp-Session-Id"), string(text)
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if code, _, text := ask(http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("x", maxBody)+`"}`); code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that is too long: %d %s", code, text)
	}
	var sessions []string
	for n := range mostSessions {
		code, id, text := ask(http.MethodPost, "", hello)
		if code != http.StatusOK || id == "" {
			t.Fatalf("session %d: %d %s", n+1, code, text)
		}
		sessions = append(sessions, id)
	}
	if code, _, text := ask(http.MethodPost, "", hello); code != http.StatusServiceUnavailable || !strings.Contains(text, "too many clients") {
		t.Errorf("one session too many: %d %s", code, text)
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
	if code, _, text := ask(http.MethodPost, sessions[0], list); code != http.StatusOK || !strings.Contains(text, `"hang"`) {
		t.Errorf("a session that is there: %d %s", code, text)
	}
	if code, _, text := ask(http.MethodDelete, sessions[1], ""); code/100 != 2 {
		t.Errorf("a session that goes: %d %s", code, text)
	}
	eventually(t, "there is room again", func() bool { code, _, _ := ask(http.MethodPost, "", hello); return code == http.StatusOK })
}
