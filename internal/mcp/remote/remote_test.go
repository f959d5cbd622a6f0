package remote

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adze/internal/mcp/wire"
)

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// served is a server on loopback and its client.
func served(t *testing.T, headers http.Header, h http.HandlerFunc) (*url.URL, *http.Client) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u := parse(t, s.URL+"/mcp")
	return u, Client(u, headers)
}

// post sends one call and returns what its reader gets.
func post(t *testing.T, c *http.Client, u *url.URL) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.String(), strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":9}}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

func refused(err error) bool {
	var own *Error
	return errors.As(err, &own) && own.Message != ""
}

func TestHeadersGoToTheConfiguredOriginAlone(t *testing.T) {
	var seen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer thief.Close()
	for name, status := range map[string]int{"moved": 301, "found": 302, "see other": 303, "temporary": 307, "permanent": 308} {
		for _, to := range []string{thief.URL, "http://169.254.169.254/latest", "http://localhost:1/", "file:///etc/passwd"} {
			u, c := served(t, http.Header{"x-key": {"secret"}}, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Key") != "secret" {
					t.Error("the configured header is not sent")
				}
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			})
			if _, err := post(t, c, u); err == nil || to != "file:///etc/passwd" && !refused(err) {
				t.Errorf("%s to %s: %v", name, to, err)
			}
		}
	}
	if seen.Load() != 0 {
		t.Error("another origin was asked")
	}
	u, c := served(t, http.Header{"Authorization": {"Bearer configured"}}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	})
	if got, err := post(t, c, u); got != "Bearer configured" || err != nil {
		t.Errorf("within the origin: %q, %v", got, err)
	}
}

func TestPrivateAddressesAreReachedOnlyWhereConfigured(t *testing.T) {
	for _, c := range []struct {
		configured, host, at string
		owned                bool
	}{
		{"http://127.0.0.1:8080/mcp", "127.0.0.1", "127.0.0.1:8080", true},
		{"http://127.0.0.1:8080/mcp", "127.0.0.1", "127.0.0.1:8081", false},
		{"http://127.0.0.1:8080/mcp", "localhost", "127.0.0.1:8080", false},
		{"http://LocalHost:8080/mcp", "localhost", "[::1]:8080", true},
		{"http://localhost/mcp", "localhost", "10.0.0.1:80", false},
		{"https://tools.corp.example/mcp", "tools.corp.example", "10.1.2.3:443", true},
		{"https://tools.corp.example/mcp", "tools.corp.example", "127.0.0.1:443", false},
		{"https://tools.corp.example/mcp", "tools.corp.example", "169.254.169.254:443", false},
		{"https://tools.corp.example/mcp", "other.example", "10.1.2.3:443", false},
		{"http://0.0.0.0:80/mcp", "0.0.0.0", "0.0.0.0:80", false},
		{"http://192.168.1.5/mcp", "192.168.1.5", "192.168.1.5:80", true},
	} {
		if got := (place{parse(t, c.configured)}).owns(c.host, netip.MustParseAddrPort(c.at)); got != c.owned {
			t.Errorf("%s, %s at %s: %t", c.configured, c.host, c.at, got)
		}
	}
	inside := httptest.NewTLSServer(http.NotFoundHandler())
	defer inside.Close()
	if _, err := Issuers().Get(inside.URL); !refused(err) {
		t.Errorf("an issuer on this machine that nobody named: %v", err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside.URL, http.StatusFound)
	}))
	defer plain.Close()
	if _, err := Issuers(parse(t, plain.URL)).Get(plain.URL); !refused(err) || !strings.Contains(err.Error(), "private network") {
		t.Errorf("a redirect into this machine: %v", err)
	}
	if _, err := Issuers().Get("http://issuer.example/"); !refused(err) || !strings.Contains(err.Error(), "read on the way") {
		t.Errorf("without TLS: %v", err)
	}
	if _, err := Issuers(parse(t, "http://issuer.example/")).Get("http://issuer.example/"); !refused(err) {
		t.Errorf("without TLS although named: %v", err)
	}
	if _, err := Issuers(parse(t, plain.URL)).PostForm(plain.URL, url.Values{"code": {"secret"}}); !refused(err) || !strings.Contains(err.Error(), "holds a secret") {
		t.Errorf("a code that is sent on: %v", err)
	}
}

// A long answer ends its call, and nothing else.
func TestALongAnswerIsOneErrorOfItsCall(t *testing.T) {
	long := bytes.Repeat([]byte("x"), wire.MaxMessage+2000)
	for name, write := range map[string]func(w http.ResponseWriter){
		"one text": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(long)
		},
		"packed": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(long)
			_ = z.Close()
		},
		"an event": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, _ = fmt.Fprintf(w, "id: 1\ndata: {}\n\nid: 2\ndata: %s\n\n", long)
		},
		"an event of many lines": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range len(long) / 100 {
				_, _ = fmt.Fprintf(w, "data: %s\n", long[:100])
			}
			_, _ = fmt.Fprintln(w)
		},
		"an event without end": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
			for {
				if _, err := w.Write(long[:64<<10]); err != nil {
					return
				}
			}
		},
	} {
		u, c := served(t, nil, func(w http.ResponseWriter, _ *http.Request) { write(w) })
		got, err := post(t, c, u)
		last := got[max(strings.LastIndex(got, "data: "), 0):]
		var answer struct {
			ID    int
			Error struct{ Message string }
		}
		if err2 := json.Unmarshal([]byte(strings.TrimPrefix(strings.TrimSpace(last), "data: ")), &answer); err != nil || err2 != nil || answer.ID != 7 || !strings.Contains(answer.Error.Message, "more than 8 MB") {
			t.Errorf("%s: %.200q, %v, %v", name, got, err, err2)
		}
	}
}

func TestEventsPassWhole(t *testing.T) {
	stream := "event: message\nid: 1\ndata: {\"a\":\ndata: 1}\n\n: ping\n\r\n\r\ndata: " + strings.Repeat("y", 100_000) + "\r\n\r\ndata: last"
	u, c := served(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	})
	if got, err := post(t, c, u); got != stream || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(stream), err)
	}
}

// What comes is passed on when an event is whole, not when the stream ends.
func TestEventsAreNotHeldBack(t *testing.T) {
	more := make(chan struct{})
	u, c := served(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\ndata: 2")
		w.(http.Flusher).Flush()
		<-more
	})
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), nil)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer close(more)
	got := make([]byte, 9)
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != "data: 1\n\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFloodEnds(t *testing.T) {
	var asked atomic.Int32
	u, c := served(t, nil, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := io.WriteString(w, strings.Repeat("data: {}\n\n", 1000)); err != nil {
				return
			}
		}
	})
	c.Transport.(*guard).flood.now = func() time.Time { return time.Time{} } // a clock that stands
	for range maxFloods {
		if _, err := post(t, c, u); !refused(err) || !strings.Contains(err.Error(), "floods") {
			t.Fatal(err)
		}
	}
	if _, err := post(t, c, u); !refused(err) || asked.Load() != maxFloods {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

func TestAFloodIsMeasuredByTheClock(t *testing.T) {
	now := time.Unix(0, 0)
	f := newFlood(func() time.Time { return now })
	for range 10_000 { // a day of steady talk
		now = now.Add(time.Second)
		if !f.take(perSecond / 2) {
			t.Fatal("steady talk is no flood")
		}
	}
	events := 0
	for f.take(100 + eventCost) {
		events++
	}
	if most := burst / eventCost; events < most/2 || events > most {
		t.Errorf("%d events at once", events)
	}
}

// The stream of a call that is given up ends with it.
func TestAGivenUpCallEndsItsStream(t *testing.T) {
	gone := make(chan struct{})
	u, c := served(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	resp.Body.Close()
	<-gone
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"", "\n", "data: 1\n\n", "\r\n\r\n", "data: 1\r\n\r\nid: 2\n\ndata", ":\n\n\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		e := newEvents(io.NopCloser(strings.NewReader(stream)), newFlood(time.Now), nil)
		if got, err := io.ReadAll(e); err != nil || string(got) != stream {
			t.Errorf("%q became %q, %v", stream, got, err)
		}
	})
}
