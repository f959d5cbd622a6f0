package run_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestTheConfiguredEngineIsAsked on this machine too, since the user wrote its address down, but
// only where network access to it is allowed; its key gets into the request of the engine, and
// nowhere else.
func TestTheConfiguredEngineIsAsked(t *testing.T) {
	const key = "a-key-that-nobody-sees-0123456789"
	var mu sync.Mutex
	var asked []string
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Query().Get("q")+" "+r.Header.Get("Authorization"))
		io.WriteString(w, `{"results":[{"title":"The page","url":"https://a.example/","content":"what it says"}]}`)
	}))
	defer engine.Close()
	u := newUser(t)
	u.env = append(u.env, "MY_SEARCH_KEY="+key)
	steps := "-- 1 --\ncall websearch: {\"query\":\"go generics\"}\n-- 2 --\nexpect websearch %s: %s\n" +
		"call bash: {\"command\":\"env | grep -c SEARCH || true\"}\n-- 3 --\ntext: found\n"
	script := func(status, says string) string {
		return u.script(strings.Replace(strings.Replace(steps, "%s", status, 1), "%s", says, 1))
	}
	run := func(status, says string, flags ...string) string {
		t.Helper()
		r := u.run(append(flags, "-p", "--output-format", "stream-json", script(status, says), "hi")...)
		r.wants(endOf(status == "denied"), "found")
		return r.out + r.err
	}

	offered := func(out string) bool {
		first, _, _ := strings.Cut(out, "\n") // the line init
		return strings.Contains(first, `"websearch"`)
	}

	out := run("failed", "search.engine", "--permission-mode", "yolo")
	if offered(out) {
		t.Error("without an engine it is offered")
	}
	u.configure(`{"search": {"engine": "searxng", "base_url": "` + engine.URL + `", "key_env": "MY_SEARCH_KEY"}}`)
	out = run("denied", "needs approval")
	if len(asked) != 0 || !offered(out) {
		t.Errorf("asked %q before anybody allowed it", asked)
	}
	out = run("completed", "The page", "--allow", "network("+engine.URL+")", "--allow", "execute(env)")
	if mu.Lock(); len(asked) != 1 || asked[0] != "go generics Bearer "+key {
		t.Errorf("the engine was asked %q", asked)
	}
	mu.Unlock()
	if strings.Contains(out, key) {
		t.Error("the key is in the output")
	}
	u.configure(`{"search": {"engine": "brave"}}`)
	if out = run("failed", "search.engine", "--permission-mode", "yolo"); !strings.Contains(out, "BRAVE_API_KEY") {
		t.Errorf("a missing key is not told: %s", out)
	}
}
