package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// An error of the network is one sentence with the next move, and no name of a type, a function or
// a system call.
func TestErrorsOfTheNetwork(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	tls.Config.ErrorLog = nil
	t.Cleanup(tls.Close)
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(cut.Close)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close() // nobody listens there any more
	for at, says := range map[string]string{
		"http://" + free.Addr().String():                 "nothing answers at " + free.Addr().String(),
		strings.Replace(plain.URL, "http:", "https:", 1): "does not speak TLS",
		tls.URL: "signed by nobody that this machine trusts",
		cut.URL: "closed the connection without an answer",
	} {
		u, _ := url.Parse(at)
		resp, err := Client(u, nil).Get(at)
		if err == nil {
			resp.Body.Close()
		}
		checkSentence(t, err, says)
		_, err = Issuers(u).Get(at)
		checkSentence(t, err, says)
	}
	for _, c := range []struct {
		err  error
		says string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "a.example", IsNotFound: true}}, "there is no host a.example"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "a.example"}}, "cannot be looked up now"},
		{fmt.Errorf("post: %w", context.DeadlineExceeded), "does not answer in time"},
	} {
		checkSentence(t, Explain("a.example", c.err), c.says)
	}
	if err := Explain("a.example", context.Canceled); err != context.Canceled {
		t.Error(err)
	}
}

func checkSentence(t *testing.T, err error, says string) {
	t.Helper()
	var own *Error
	if !errors.As(err, &own) || !strings.Contains(own.Message, says) || own.Hint == "" {
		t.Errorf("%v, want %q", err, says)
		return
	}
	for _, never := range []string{"dial", "tcp", "Post", "Get \"", "syscall", "x509", "EOF", "\n"} {
		if strings.Contains(own.Message, never) {
			t.Errorf("%q says %q", own.Message, never)
		}
	}
}

// What is no answer in the protocol is told as what it is, and not shown.
func TestAnAnswerThatIsNone(t *testing.T) {
	for _, c := range []struct {
		status       int
		kind, method string
		says         string // empty: it is passed on
	}{
		{http.StatusOK, "text/html", "initialize", "answers with a page (text/html)"},
		{http.StatusNotFound, "text/html", "initialize", "there is no MCP server at"},
		{http.StatusMethodNotAllowed, "text/plain", "initialize", "there is no MCP server at"},
		{http.StatusNotFound, "text/plain", "tools/list", ""}, // the session is over
		{http.StatusNotFound, "text/plain", "server/discover", ""},
		{http.StatusNotFound, "application/json", "initialize", ""},
		{http.StatusBadGateway, "text/html", "tools/call", "answers 502 Bad Gateway"},
		{http.StatusNotImplemented, "text/html", "server/discover", "answers 501 Not Implemented"},
		{http.StatusTooManyRequests, "text/html", "tools/call", "takes no more requests now"},
		{http.StatusUnauthorized, "text/html", "initialize", ""},
		{http.StatusAccepted, "", "initialize", ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if c.kind != "" {
				w.Header().Set("Content-Type", c.kind+"; charset=utf-8")
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, "<!doctype html>secret")
		}))
		u, _ := url.Parse(s.URL + "/mcp")
		resp, err := Client(u, nil).Post(u.String(), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+c.method+`"}`))
		if err == nil {
			resp.Body.Close()
		}
		if c.says == "" && err != nil {
			t.Errorf("%+v: %v", c, err)
		} else if c.says != "" {
			checkSentence(t, err, c.says)
			if err != nil && strings.Contains(err.Error(), "doctype") {
				t.Errorf("%+v: %v", c, err)
			}
		}
		s.Close()
	}
}
