package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func get(t *testing.T, h http.HandlerFunc, r Request) (Page, error) {
	t.Helper()
	_, host := localServer(t, h)
	r.URL = "http://" + host + "/"
	return localFetcher().Fetch(t.Context(), r)
}

func TestRequestCarriesNothingPersonal(t *testing.T) {
	var seen http.Header
	var method string
	page, err := get(t, func(w http.ResponseWriter, r *http.Request) {
		seen, method = r.Header.Clone(), r.Method
		w.Header().Set("Set-Cookie", "id=1")
		fmt.Fprint(w, "ok")
	}, Request{})
	if err != nil || page.Text != "ok" || page.Status != 200 || page.Type != "text/plain" {
		t.Fatalf("%+v, %v", page, err)
	}
	if method != http.MethodGet {
		t.Errorf("method %s", method)
	}
	for name := range seen {
		switch name {
		case "User-Agent", "Accept", "Accept-Language", "Accept-Encoding":
		default:
			t.Errorf("sends %s: %s", name, seen.Get(name))
		}
	}
}

func TestRedirects(t *testing.T) {
	port, connections := trap(t)
	var hits atomic.Int64
	_, host := localServer(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		w.Header().Set("Set-Cookie", "a=b")
		if r.Header.Get("Cookie")+r.Header.Get("Referer") != "" {
			t.Errorf("redirect carries %q %q", r.Header.Get("Cookie"), r.Header.Get("Referer"))
		}
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		if r.URL.Path == "/loop" {
			http.Redirect(w, r, "/loop", http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, "arrived at ", r.URL.Path)
	})
	fetch := func(path string) (Page, error) {
		return localFetcher().Fetch(t.Context(), Request{URL: "http://" + host + path})
	}
	to := func(target string) string { return "/?to=" + url.QueryEscape(target) }

	page, err := fetch(to("/b/c"))
	if err != nil || page.Text != "arrived at /b/c" || page.URL != "http://"+host+"/b/c" {
		t.Errorf("same host: %+v, %v", page, err)
	}
	page, err = fetch(to("https://elsewhere.example/x?y"))
	if err != nil || page.Redirect != "https://elsewhere.example/x?y" || page.Text != "" || page.Status != 302 {
		t.Errorf("other host: %+v, %v", page, err)
	}
	for _, bad := range []string{
		"http://[::1]:" + port + "/", "http://10.0.0.1/", "http://2130706433/", "http://localhost.example:22/", "file:///etc/passwd",
		"http://user@elsewhere.example/", "http://169.254.169.254/latest/meta-data/", "http://[::ffff:127.0.0.1]:" + port,
	} {
		_, err = fetch(to(bad))
		wantCode(t, err, codeDenied)
	}
	before := hits.Load()
	_, err = fetch("/loop")
	wantCode(t, err, codeLimit)
	if n := hits.Load() - before; n != MaxRedirects+1 {
		t.Errorf("%d requests in a redirect loop, want %d", n, MaxRedirects+1)
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections to the trap", n)
	}
}

func TestRedirectToAllowedHost(t *testing.T) {
	_, other := localServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "moved here") })
	_, host := localServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+other+"/new", http.StatusSeeOther)
	})
	f := localFetcher()
	page, err := f.Fetch(t.Context(), Request{URL: "http://" + host + "/"})
	if err != nil || page.Redirect != "http://"+other+"/new" {
		t.Errorf("another port is another place: %+v, %v", page, err)
	}
	f.policy.AllowRedirect = func(from, to *url.URL) bool { return from.Host == host && to.Host == other }
	page, err = f.Fetch(t.Context(), Request{URL: "http://" + host + "/"})
	if err != nil || page.Text != "moved here" || page.Redirect != "" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestEndlessBodyIsCut(t *testing.T) {
	page, err := get(t, func(w http.ResponseWriter, _ *http.Request) {
		line := bytes.Repeat([]byte("endless "), 1<<10)
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}, Request{})
	if err != nil || !page.Truncated || page.Bytes != MaxDecoded {
		t.Errorf("%d bytes, truncated %v, %v", page.Bytes, page.Truncated, err)
	}
}

func TestMaxBytes(t *testing.T) {
	serve := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "0123456789é") }
	page, err := get(t, serve, Request{MaxBytes: 11})
	if err != nil || page.Text != "0123456789\ufffd" || !page.Truncated {
		t.Errorf("%q, truncated %v, %v", page.Text, page.Truncated, err)
	}
	page, err = get(t, serve, Request{MaxBytes: 12})
	if err != nil || page.Text != "0123456789é" || page.Truncated {
		t.Errorf("%q, truncated %v, %v", page.Text, page.Truncated, err)
	}
}

func TestRequestBounds(t *testing.T) {
	for _, r := range []Request{
		{Timeout: -1}, {Timeout: MaxTimeout + 1}, {MaxBytes: -1}, {MaxBytes: MaxDecoded + 1}, {Format: "pdf"},
		{Format: Raw, Selector: "p"},
	} {
		r.URL = "http://93.184.216.34/"
		_, err := New(Policy{}).Fetch(t.Context(), r)
		wantCode(t, err, codeInvalid)
	}
}

func TestEncodings(t *testing.T) {
	text := strings.Repeat("some text to pack\n", 100)
	zip := zipped(t, text)
	tests := []struct {
		name, encoding, code string
		body                 []byte
	}{
		{"plain", "identity", "", []byte(text)},
		{"gzip", "gzip", "", zip},
		{"deflate", "deflate", codeEncoding, zip},
		{"two layers", "gzip, gzip", codeEncoding, zip},
		{"unknown", "br", codeEncoding, zip},
		{"not gzip", "gzip", codeEncoding, []byte(text)},
		{"damaged", "gzip", codeEncoding, append(append([]byte{}, zip[:len(zip)-8]...), "12345678"...)},
		{"cut short", "gzip", codeIO, zip[:len(zip)/2]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := get(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", tt.encoding)
				w.Header().Set("Content-Type", "text/plain")
				w.Write(tt.body)
			}, Request{})
			if tt.code != "" {
				wantCode(t, err, tt.code)
				return
			}
			if err != nil || page.Text != text {
				t.Errorf("%d bytes, %v", len(page.Text), err)
			}
		})
	}
}

func TestADecompressionBombIsCut(t *testing.T) {
	bomb := zipped(t, strings.Repeat("x", 50<<20))
	page, err := get(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		w.Write(bomb)
	}, Request{})
	if err != nil || page.Bytes != MaxDecoded || !page.Truncated {
		t.Errorf("%d bytes, truncated %v, %v", page.Bytes, page.Truncated, err)
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBodyShorterThanPromised(t *testing.T) {
	_, err := get(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "short")
	}, Request{})
	wantCode(t, err, codeIO)
}

func TestStatusErrorsCarryTheirText(t *testing.T) {
	for status, code := range map[int]string{404: codeNotFound, 410: codeNotFound, 403: codeIO, 429: codeLimit, 500: codeIO, 504: codeTimeout} {
		_, err := get(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			fmt.Fprint(w, "<body><h1>Sorry</h1><script>x()</script><p>No such thing.</p>", strings.Repeat("<p>more</p>", 5000))
		}, Request{})
		wantCode(t, err, code)
		var e *Error
		errors.As(err, &e)
		if e.Status != status || !strings.HasPrefix(e.Excerpt, "Sorry\n\nNo such thing.") || len(e.Excerpt) > maxExcerpt {
			t.Errorf("status %d, excerpt of %d bytes: %.60q", e.Status, len(e.Excerpt), e.Excerpt)
		}
		if status == 429 && !strings.Contains(err.Error(), "7") {
			t.Errorf("no Retry-After in %q", err)
		}
	}
}

func TestTypes(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n0000"
	tests := []struct{ contentType, body, wantType, code string }{
		{"image/png", png, "image/png", ""},
		{"application/octet-stream", png, "image/png", ""},
		{"image/png", "<script>not an image</script>", "", codeBinary},
		{"image/svg+xml", "<svg/>", "image/svg+xml", ""},
		{"application/json; charset=utf-8", `{"a":1}`, "application/json", ""},
		{"application/ld+json", `{}`, "application/ld+json", ""},
		{"application/x-yaml", "a: 1", "application/x-yaml", ""},
		{"application/pdf", "%PDF-1.7", "", codeBinary},
		{"application/zip", "PK\x03\x04", "", codeBinary},
		{"video/mp4", "x", "", codeBinary},
		{"text/plain", "a\x00b", "", codeBinary},
		{"application/octet-stream", "just text", "text/plain", ""},
		{"application/octet-stream", "\x7fELF\x02\x01\x01\x00", "", codeBinary},
	}
	for _, tt := range tests {
		page, err := get(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tt.contentType)
			fmt.Fprint(w, tt.body)
		}, Request{})
		if tt.code != "" {
			wantCode(t, err, tt.code)
			continue
		}
		if err != nil || page.Type != tt.wantType {
			t.Errorf("%s: type %q, %v", tt.contentType, page.Type, err)
		}
		if content := page.Text + string(page.Image); content != tt.body {
			t.Errorf("%s: content %q", tt.contentType, content)
		}
	}
}

func TestCutImageIsRefused(t *testing.T) {
	_, err := get(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "\x89PNG\r\n\x1a\n", strings.Repeat("0", 100))
	}, Request{MaxBytes: 50})
	wantCode(t, err, codeTooLarge)
}

// A server that sends a byte now and then must not hold the fetch longer than its time.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := pipeFetcher(func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			for {
				time.Sleep(time.Second)
				if _, err := io.WriteString(c, "."); err != nil {
					return
				}
			}
		})
		start := time.Now()
		_, err := f.Fetch(t.Context(), Request{URL: "http://slow.example/", Timeout: 20 * time.Second})
		wantCode(t, err, codeTimeout)
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("took %v", took)
		}
		time.Sleep(2 * time.Second) // the server's next byte finds the connection closed
	})
}

func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := pipeFetcher(func(c net.Conn) { io.Copy(io.Discard, c) })
		start := time.Now()
		_, err := f.Fetch(t.Context(), Request{URL: "http://silent.example/"})
		wantCode(t, err, codeTimeout)
		if took := time.Since(start); took != DefaultTimeout {
			t.Errorf("took %v, want %v", took, DefaultTimeout)
		}
	})
}

func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Policy{Resolve: publicAnswer})
		f.policy.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		start := time.Now()
		_, err := f.Fetch(t.Context(), Request{URL: "http://dead.example/"})
		wantCode(t, err, codeTimeout)
		if took := time.Since(start); took != ConnectTimeout {
			t.Errorf("took %v, want %v", took, ConnectTimeout)
		}
	})
}

func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := pipeFetcher(func(c net.Conn) { io.Copy(io.Discard, c) })
		go func() {
			time.Sleep(3 * time.Second)
			cancel()
		}()
		start := time.Now()
		_, err := f.Fetch(ctx, Request{URL: "http://silent.example/"})
		wantCode(t, err, codeAborted)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v after the abort at 3s", took)
		}
	})
}

// pipeFetcher connects to a handler in this process, by the clock of the test.
func pipeFetcher(serve func(net.Conn)) *Fetcher {
	f := New(Policy{Resolve: publicAnswer})
	f.policy.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if _, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
				serve(server)
			}
		}()
		return client, nil
	}
	return f
}

func publicAnswer(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

func TestResolverFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		code string
	}{
		"no such host": {&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, codeNotFound},
		"no answers":   {nil, codeNotFound},
		"broken":       {&net.DNSError{Err: "server misbehaving", Name: "x"}, codeIO},
		"slow":         {&net.DNSError{Err: "i/o timeout", Name: "x", IsTimeout: true}, codeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(Policy{Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, tt.err }})
			_, err := f.Fetch(t.Context(), Request{URL: "http://nowhere.example/"})
			wantCode(t, err, tt.code)
		})
	}
}

func TestSecondAddressIsTried(t *testing.T) {
	f := pipeFetcher(func(c net.Conn) { io.WriteString(c, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhi") })
	f.policy.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("2606:4700:4700::1111"), netip.MustParseAddr("1.1.1.1")}, nil
	}
	works := f.policy.Dial
	f.policy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "[") {
			return nil, errors.New("no route")
		}
		return works(ctx, network, address)
	}
	page, err := f.Fetch(t.Context(), Request{URL: "http://two.example/"})
	if err != nil || page.Text != "hi" {
		t.Errorf("%q, %v", page.Text, err)
	}
}

func TestCache(t *testing.T) {
	var hits atomic.Int64
	_, host := localServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/private" {
			w.Header().Set("Cache-Control", "private, no-store")
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>hit <b>%d</b></p>", hits.Add(1))
	})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := localFetcher()
	f.policy.Now = func() time.Time { return now }
	f.policy.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	_, port, _ := net.SplitHostPort(host)
	host = "docs.example:" + port
	want := func(path, session string, format Format, text string, cached bool) {
		t.Helper()
		page, err := f.Fetch(t.Context(), Request{URL: "http://" + host + path, Session: session, Format: format})
		if err != nil || strings.TrimSpace(page.Text) != text || page.Cached != cached {
			t.Errorf("%s: %q, cached %v, %v; want %q, %v", path, page.Text, page.Cached, err, text, cached)
		}
	}
	want("/a", "s1", Markdown, "hit **1**", false)
	want("/a#part", "s1", Text, "hit 1", true)
	want("/a", "s2", Text, "hit 2", false)
	now = now.Add(cacheAge - time.Second)
	want("/a", "s1", Text, "hit 1", true)
	now = now.Add(time.Second)
	want("/a", "s1", Text, "hit 3", false)
	want("/private", "s1", Text, "hit 4", false)
	want("/private", "s1", Text, "hit 5", false)
}

func TestCacheIsBounded(t *testing.T) {
	var c cache
	now := time.Unix(0, 0)
	for i := range 3 * cachePages {
		c.put(cacheKey{url: fmt.Sprint(i)}, &resource{body: make([]byte, 1<<20)}, now)
	}
	if c.bytes > cacheBytes || len(c.entries) > cachePages {
		t.Errorf("%d entries, %d bytes", len(c.entries), c.bytes)
	}
	if _, ok := c.get(cacheKey{url: fmt.Sprint(3*cachePages - 1)}, now); !ok {
		t.Error("the newest entry is gone")
	}
}
