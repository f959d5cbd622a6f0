package cmd_test

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// servedClaims are the scenarios of a server that adze mcp serve claims: it offers tools of its
// own, and neither resources, prompts, completion, logging nor the tools that the suite has in
// mind.
var servedClaims = []string{
	"server-initialize", "server-session-lifecycle", "server-stateless", "ping", "tools-list", "dns-rebinding-protection", "http-header-validation",
	"server-sse-multiple-streams",
}

// tokenProxy leads to a server that wants a token, for clients that send none. It calls the server
// by the server's name, and passes on any other that the client used.
func tokenProxy(t *testing.T, server, token string) string {
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var own string
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
		r.Out.Host = r.In.Host
		if r.In.Host == own || r.In.Host == strings.Replace(own, "127.0.0.1", "localhost", 1) {
			r.Out.Host = to.Host
		}
		if origin := r.In.Header.Get("Origin"); strings.HasSuffix(origin, "//"+own) || strings.HasSuffix(origin, strings.Replace(own, "127.0.0.1", "localhost", 1)) {
			r.Out.Header.Set("Origin", "http://"+to.Host)
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A response that begins before the proxy saw the end of the body would break off: the
		// standard library closes the body then (golang/go#40747).
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	own = strings.TrimPrefix(h.URL, "http://")
	return h.URL + to.Path
}

var servedAt = regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`)

// TestMCPServerConformance runs the scenarios of a server that adze mcp serve claims.
func TestMCPServerConformance(t *testing.T) {
	suite := conformance(t)
	u := newUser(t)
	const token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	path := u.file("../token-of-the-test", token+"\n")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	c := u.command("mcp", "serve", "--http", ":0", "--token-file", path)
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	var at string
	for lines := bufio.NewScanner(said); at == "" && lines.Scan(); {
		at = servedAt.FindString(lines.Text())
	}
	if at == "" {
		t.Fatal("it did not say where it listens")
	}
	proxy := tokenProxy(t, at, token)
	if res, err := http.Get(proxy); err != nil || res.StatusCode == http.StatusUnauthorized {
		t.Fatal(res, err)
	}
	only := regexp.MustCompile(cmp.Or(os.Getenv("ADZE_TEST_SCENARIOS"), "."))
	var claimed []string
	for _, s := range scenarios(t, suite, "Server scenarios") {
		if !slices.Contains(servedClaims, s.name) {
			t.Logf("not claimed: %s: it wants tools, prompts or resources of the suite's own", s.name)
			continue
		}
		for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} { // internal/mcp/serve tests the older ones, too
			if name := s.name + " " + version; strings.Contains(s.versions, version) && only.MatchString(name) {
				claimed = append(claimed, name)
			}
		}
	}
	table(t, judged(claimed, func(name string) verdict {
		name, version, _ := strings.Cut(name, " ")
		return runScenario(t, suite, u.env, "server", "--url", proxy, "--scenario", name, "--spec-version", version)
	}))
}
