package toolset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/web"
	"adze/tool"
)

// caseWeb is a web of the case's own: site/<host>/<path> is what that host answers, a file that
// begins with HTTP/1.1 is the whole answer. No connection leaves the process. Names have a public
// address, except that localhost.example and mixed.example are attacks.
func caseWeb(dir string) *web.Fetcher {
	return web.New(web.Policy{
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			public, loopback := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1")
			switch host {
			case "localhost.example":
				return []netip.Addr{loopback}, nil
			case "mixed.example":
				return []netip.Addr{public, loopback}, nil
			}
			if _, err := os.Stat(filepath.Join(dir, "site", host)); err != nil {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			return []netip.Addr{public}, nil
		},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go answerFrom(filepath.Join(dir, "site"), server)
			return client, nil
		},
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
}

// answerFrom serves one connection from the files of a site.
func answerFrom(site string, conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := os.ReadFile(filepath.Join(site, req.Host, filepath.FromSlash(req.URL.Path)))
		switch {
		case err != nil:
			fmt.Fprint(conn, "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>No such page</h1><p>Try the index.</p>")
			return
		case strings.HasPrefix(string(body), "HTTP/1.1 "):
			head, rest, _ := strings.Cut(string(body), "\n\n")
			fmt.Fprintf(conn, "%s\r\nConnection: close\r\n\r\n%s", strings.ReplaceAll(head, "\n", "\r\n"), rest)
			return
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			mime.TypeByExtension(filepath.Ext(req.URL.Path)), len(body), body)
	}
}

// TestWebfetchNeedsMatchTheConnection: what a rule is matched against is what the fetch connects
// to.
func TestWebfetchNeedsMatchTheConnection(t *testing.T) {
	for in, want := range map[string]string{
		"HTTPS://Docs.Example:443/a#b":   "https://docs.example/a",
		"http://docs.example.":           "http://docs.example/",
		"http://ｄｏｃｓ.example/":           "http://docs.example/",
		"https://user@docs.example/":     "https://user@docs.example/", // refused by the fetch
		"http://0x7f.1/":                 "http://0x7f.1/",             // too
		"http://[2606:4700:0:0::1111]:8": "http://[2606:4700::1111]:8/",
	} {
		if got := spelled(in); got != want {
			t.Errorf("%s: needs %s, want %s", in, got, want)
		}
	}
}

// pages is a fetcher that answers from memory.
type pages func(web.Request) (web.Page, error)

func (p pages) Fetch(_ context.Context, r web.Request) (web.Page, error) { return p(r) }

func runWebfetch(t *testing.T, f PageFetcher, args string) tool.Outcome {
	t.Helper()
	var registry tool.Registry
	if err := registry.Register(webfetch(f, Bounds{})); err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
		return tool.Decision{Allow: true}, nil
	})}
	h := runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "webfetch", Arguments: args}})
	return runner.Exec(t.Context(), h[0])
}

func TestWebfetchAttachesImages(t *testing.T) {
	image := []byte("\x89PNG\r\n\x1a\n")
	o := runWebfetch(t, pages(func(web.Request) (web.Page, error) {
		return web.Page{URL: "https://x.example/a/cat.png?v=1/2", Status: 200, Type: "image/png", Image: image, Bytes: 8}, nil
	}), `{"url":"https://x.example/a/cat.png"}`)
	if o.Status != tool.Completed || len(o.Attachments) != 1 {
		t.Fatalf("%+v", o)
	}
	a := o.Attachments[0]
	if a.Name != "cat.png" || a.MediaType != "image/png" || string(a.Data) != string(image) {
		t.Errorf("attachment %q %s %q", a.Name, a.MediaType, a.Data)
	}
}

func TestWebfetchPassesItsArguments(t *testing.T) {
	var got web.Request
	f := pages(func(r web.Request) (web.Page, error) {
		got = r
		got.Received = nil
		return web.Page{URL: r.URL, Status: 200}, nil
	})
	o := runWebfetch(t, f, `{"url":"https://x.example/","format":"text","selector":"p","timeout":7,"max_bytes":99}`)
	want := web.Request{URL: "https://x.example/", Format: web.Text, Selector: "p", Timeout: 7 * time.Second, MaxBytes: 99, Session: "s"}
	if got != want || o.Status != tool.Completed {
		t.Errorf("request %+v, want %+v; %s %s", got, want, o.Status, o.Output)
	}
	for _, args := range []string{
		`{}`, `{"url":[1]}`, `{"url":"https://x.example/","timeout":0}`, `{"url":"https://x.example/","timeout":1.5}`,
		`{"url":"https://x.example/","timeout":99999999999999999999}`, `{"url":"https://x.example/","max_bytes":-1}`,
		`{"url":"https://x.example/","max_bytes":10485761}`, `{"url":"https://x.example/","format":"pdf"}`, `{"url":"https://x.example/","post":"x"}`,
	} {
		if o := runWebfetch(t, f, args); o.Status != tool.Invalid || o.Code != tool.CodeInvalidArguments {
			t.Errorf("%s: %s %s", args, o.Status, o.Code)
		}
	}
}

func TestWebfetchKeepsCodesOfFailures(t *testing.T) {
	for _, code := range []string{tool.CodeDenied, tool.CodeTimeout, tool.CodeTooLarge, tool.CodeLimit, tool.CodeNotFound, tool.CodeBinary, tool.CodeEncoding, tool.CodeIO} {
		o := runWebfetch(t, pages(func(web.Request) (web.Page, error) {
			return web.Page{}, &web.Error{Code: code, Message: "why"}
		}), `{"url":"https://x.example/"}`)
		if o.Status != tool.Failed || o.Code != code || o.Output != "why" {
			t.Errorf("%s: %s %s %q", code, o.Status, o.Code, o.Output)
		}
	}
	o := runWebfetch(t, pages(func(web.Request) (web.Page, error) { return web.Page{}, errors.New("odd") }), `{"url":"https://x.example/"}`)
	if o.Status != tool.Failed || !strings.Contains(o.Output, "odd") {
		t.Errorf("%s %q", o.Status, o.Output)
	}
}

// TestWebfetchSharesItsCacheWithinASession plays the same url twice in one session.
func TestWebfetchSharesItsCacheWithinASession(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "site", "x.example"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "site", "x.example", "a.txt")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := caseWeb(dir)
	first := runWebfetch(t, f, `{"url":"http://x.example/a.txt"}`)
	if err := os.WriteFile(file, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := runWebfetch(t, f, `{"url":"http://x.example/a.txt#part"}`)
	if !strings.HasSuffix(first.Output, "old") || !strings.HasSuffix(again.Output, "old") || !strings.Contains(again.Output, "cached in this session") {
		t.Errorf("first %q, again %q", first.Output, again.Output)
	}
}

// TestBeginningIsBounded: a pane gets lines, never a page of one line or half a character.
func TestBeginningIsBounded(t *testing.T) {
	if got := beginning(strings.Repeat("é", previewBytes)); len(got) > previewBytes || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("%d bytes", len(got))
	}
	if got := strings.Count(beginning(strings.Repeat("x\n", 500)), "\n"); got != previewLines-1 {
		t.Errorf("%d line breaks", got)
	}
}

// TestAYesReachesTheFetch: a user who allowed the call has allowed the address; a rule or mode has
// not said so.
func TestAYesReachesTheFetch(t *testing.T) {
	for _, asked := range []bool{true, false} {
		got := !asked
		var registry tool.Registry
		err := registry.Register(webfetch(pages(func(r web.Request) (web.Page, error) {
			got = r.Approved
			return web.Page{URL: r.URL, Status: 200}, nil
		}), Bounds{}))
		if err != nil {
			t.Fatal(err)
		}
		set, err := registry.Tools(t.Context(), tool.Init{})
		if err != nil {
			t.Fatal(err)
		}
		runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
			return tool.Decision{Allow: true, Asked: asked}, nil
		})}
		h := runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "webfetch", Arguments: `{"url":"http://localhost:3000/"}`}})
		if o := runner.Exec(t.Context(), h[0]); o.Status != tool.Completed || got != asked {
			t.Errorf("asked %v: approved %v, %s", asked, got, o.Output)
		}
	}
}

// A page of links shows a few of them, and the whole is kept.
func TestALinkFarmIsFolded(t *testing.T) {
	var page strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&page, "- [page %x](https://example.com/%x)\n", i*7919%65521, i)
	}
	fetcher := fetcherFunc(func(context.Context, web.Request) (web.Page, error) {
		return web.Page{URL: "https://example.com/", Status: 200, Type: "text/html", Text: page.String()}, nil
	})
	for format, most := range map[string]int{"": 3000, "markdown": 3000, "raw": 110_000} {
		result, err := webfetcher{fetcher}.run(t.Context(), tool.Context[webfetchMeta]{}, webfetchArgs{URL: "https://example.com/", Format: format})
		if err != nil || len(result.Output) > most && format != "raw" || (result.FullOutput != "") != (format != "raw") {
			t.Errorf("%q: %d bytes, whole %d, %v", format, len(result.Output), len(result.FullOutput), err)
		}
	}
}

type fetcherFunc func(context.Context, web.Request) (web.Page, error)

func (f fetcherFunc) Fetch(ctx context.Context, r web.Request) (web.Page, error) { return f(ctx, r) }
