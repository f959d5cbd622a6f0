package websearch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const key = "sk-very-secret-0123456789"

// asked is what a server was asked.
type asked struct {
	method, path, query, body string
	header                    http.Header
}

// serve is an engine whose server answers as the test says; what it was asked comes through the
// channel.
func serve(t *testing.T, engine string, answer http.HandlerFunc) (*Engine, chan asked) {
	t.Helper()
	got := make(chan asked, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a short one fails the comparison
		got <- asked{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	e, err := New(Options{Engine: engine, BaseURL: s.URL + "/base/", Key: key, KeyName: "THE_KEY", Connect: dial})
	if err != nil {
		t.Fatal(err)
	}
	return e, got
}

func dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// answers is one good answer of each engine, with what no model should be given among it.
func answers() map[string]string {
	const rest = `{"title":"twice","url":"https://a.example/x?y=1","%[1]s":"the same page"},{"title":"no page","url":"javascript:alert(1)","%[1]s":""},` +
		`{"title":"with a name","url":"https://user:pass@b.example/","%[1]s":"more"}`
	one := func(excerpt string) string {
		return fmt.Sprintf(`{"title":"The <strong>Go</strong> &amp; you\n","url":"https://a.example/x?y=1","%[1]s":"a <b>word</b> if a &lt; b \u0000 and\n\nmore"},`+rest, excerpt)
	}
	return map[string]string{
		"searxng": `{"query":"q","number_of_results":0,"results":[` + one("content") + `],"answers":[],"unresponsive_engines":[]}`,
		"brave":   `{"type":"search","query":{"original":"q"},"mixed":{},"web":{"type":"search","results":[` + one("description") + `]}}`,
		"tavily":  `{"query":"q","answer":null,"images":[],"results":[` + one("content") + `],"response_time":"1.2"}`,
	}
}

func TestEachEngineIsAskedInItsOwnWay(t *testing.T) {
	want := map[string]asked{
		"searxng": {"GET", "/base/search", "format=json&q=go+generics+%26+you", "", http.Header{"Authorization": {"Bearer " + key}}},
		"brave":   {"GET", "/base/web/search", "count=5&q=go+generics+%26+you", "", http.Header{"X-Subscription-Token": {key}}},
		"tavily":  {"POST", "/base/search", "", `{"max_results":5,"query":"go generics \u0026 you"}`, http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}},
	}
	for name, answer := range answers() {
		e, got := serve(t, name, says(200, answer))
		found, err := e.Search(t.Context(), " go generics & you ", 5)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a := <-got
		w := want[name]
		for header := range w.header {
			if a.header.Get(header) != w.header.Get(header) {
				t.Errorf("%s: %s is %q", name, header, a.header.Get(header))
			}
		}
		w.header, a.header = nil, nil
		if a.method != w.method || a.path != w.path || a.query != w.query || a.body != w.body {
			t.Errorf("%s was asked %+v, want %+v", name, a, w)
		}
		results := []Result{
			{Title: "The Go & you", URL: "https://a.example/x?y=1", Excerpt: "a word if a < b \u0000 and more"},
			{Title: "with a name", URL: "https://b.example/", Excerpt: "more"},
		}
		if d := cmp.Diff(results, found); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestNothingWasFound(t *testing.T) {
	for name, answer := range map[string]string{
		"searxng": `{"results":[]}`, "brave": `{"type":"search","query":{}}`, "tavily": `{"results":[]}`,
	} {
		e, _ := serve(t, name, says(200, answer))
		if found, err := e.Search(t.Context(), "x", 5); err != nil || len(found) != 0 {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}

// TestRefusalsSayTheNextMove for each engine: no error holds the key or the query's address.
func TestRefusalsSayTheNextMove(t *testing.T) {
	for _, name := range Engines() {
		for _, c := range []struct {
			status int
			code   string
			says   string
		}{
			{401, codeIO, "HTTP 401"}, {403, codeIO, "HTTP 403"}, {429, codeLimit, "wait 7"}, {432, codeLimit, "no more searches"},
			{302, codeIO, "redirects"}, {500, codeIO, "problem"}, {422, codeIO, "HTTP 422"},
		} {
			e, got := serve(t, name, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere?key="+key)
				w.WriteHeader(c.status)
				io.WriteString(w, "your key "+key+" is bad")
			})
			_, err := e.Search(t.Context(), "secret plans", 5)
			var own *Error
			if !errors.As(err, &own) || own.Code != c.code || !strings.Contains(own.Message, c.says) {
				t.Errorf("%s %d: %v", name, c.status, err)
			}
			if strings.Contains(fmt.Sprintf("%+v", err), key) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s %d: the error tells %v", name, c.status, err)
			}
			if <-got; len(got) != 0 {
				t.Errorf("%s %d: was asked again", name, c.status)
			}
		}
	}
}

func TestRubbishIsNoResult(t *testing.T) {
	for _, name := range Engines() {
		for _, body := range []string{"", "<html>hello</html>", "[]", "{}", "null", `{"results":7}`, `{"web":[]}`, `{"results":[{"url":7}]}`, `{"results":`} {
			e, _ := serve(t, name, says(200, body))
			found, err := e.Search(t.Context(), "x", 5)
			var own *Error
			if !errors.As(err, &own) || own.Code != codeIO {
				t.Errorf("%s %q: %v %v", name, body, found, err)
			}
		}
	}
}

func TestAnAnswerWithoutEnd(t *testing.T) {
	for _, name := range Engines() {
		e, _ := serve(t, name, func(w http.ResponseWriter, r *http.Request) {
			piece := []byte(strings.Repeat(`{"results":[`, 4<<10))
			for r.Context().Err() == nil {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		})
		var own *Error
		if _, err := e.Search(t.Context(), "x", 5); !errors.As(err, &own) || own.Code != codeTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestASilentServer: neither headers nor a body that never ends hold a search beyond its time, and
// an abort ends it.
func TestASilentServer(t *testing.T) {
	for _, begun := range []bool{false, true} {
		silent := func(w http.ResponseWriter, r *http.Request) {
			if begun {
				io.WriteString(w, `{"results":[`)
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}
		e, _ := serve(t, "searxng", silent) // which may not even hear of a search whose time is up
		e.o.Timeout = 30 * time.Millisecond
		var own *Error
		if _, err := e.Search(t.Context(), "x", 5); !errors.As(err, &own) || own.Code != codeTimeout {
			t.Errorf("begun %v: %v", begun, err)
		}
		e, got := serve(t, "searxng", silent)
		e.o.Timeout = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-got
			cancel()
		}()
		if _, err := e.Search(ctx, "x", 5); !errors.As(err, &own) || own.Code != codeAborted {
			t.Errorf("begun %v, aborted: %v", begun, err)
		}
	}
}

func TestALongResultIsCut(t *testing.T) {
	long := strings.Repeat("ä<b>", 100_000)
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf(`{"title":%q,"url":"https://a.example/%d","content":%q}`, long[:2000], i, long[:8000]))
	}
	e, _ := serve(t, "tavily", says(200, `{"results":[`+strings.Join(many, ",")+`]}`))
	found, err := e.Search(t.Context(), "x", 3)
	if err != nil || len(found) != 3 {
		t.Fatalf("%d results, %v", len(found), err)
	}
	for _, r := range found {
		if len([]rune(r.Title)) > maxTitle+1 || len([]rune(r.Excerpt)) > maxExcerpt+1 || strings.Contains(r.Excerpt, "<") {
			t.Errorf("%.80q %d %d", r.Excerpt, len(r.Title), len(r.Excerpt))
		}
	}
}

func TestQueriesThatCannotBeAsked(t *testing.T) {
	e, got := serve(t, "brave", says(200, `{"type":"search"}`))
	for _, query := range []string{"", "  ", strings.Repeat("word ", 100)} {
		var own *Error
		if _, err := e.Search(t.Context(), query, 5); !errors.As(err, &own) || own.Code != codeInvalid {
			t.Errorf("%.20q: %v", query, err)
		}
	}
	if len(got) != 0 {
		t.Error("the engine was asked")
	}
}

func TestConfigurationsThatCannotWork(t *testing.T) {
	for _, o := range []Options{
		{Engine: "google"}, {Engine: "searxng"}, {Engine: "searxng", BaseURL: "searx.example"}, {Engine: "searxng", BaseURL: "ftp://searx.example"},
		{Engine: "searxng", BaseURL: "https://u:p@searx.example"}, {Engine: "searxng", BaseURL: "https://searx.example/?key=x"},
		{Engine: "brave", KeyName: "BRAVE_API_KEY"}, {Engine: "tavily", KeyName: "TAVILY_API_KEY"},
	} {
		if e, err := New(o); err == nil {
			t.Errorf("%+v became %s", o, e.Address())
		}
	}
	for _, o := range []Options{{Engine: "brave", Key: "k"}, {Engine: "searxng", BaseURL: "http://LOCALHOST:8080/searx/"}} {
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(e.Address())
		if err != nil || u.Hostname() != e.Host() || e.Port() == 0 || strings.ToLower(e.Host()) != e.Host() {
			t.Errorf("%s: host %s, port %d", e.Address(), e.Host(), e.Port())
		}
	}
}

// TestNothingButTheEngineIsDialled: the connector is asked for the configured place whatever an
// answer says.
func TestNothingButTheEngineIsDialled(t *testing.T) {
	var places []string
	e, err := New(Options{Engine: "brave", Key: key, Connect: func(_ context.Context, host string, port uint16) (net.Conn, error) {
		places = append(places, fmt.Sprintf("%s:%d", host, port))
		return nil, fail("denied", "no way there")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Search(t.Context(), "x", 5); err == nil || !strings.Contains(err.Error(), "no way there") {
		t.Errorf("%v", err)
	}
	if d := cmp.Diff([]string{"api.search.brave.com:443"}, places); d != "" {
		t.Error(d)
	}
}
