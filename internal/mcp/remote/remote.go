// Package remote makes the HTTP clients through which adze talks with MCP servers elsewhere and
// with whoever such a server names.
//
// The one rule: what a server answers decides neither where a secret goes nor how much is read. A
// client of a server speaks to the one origin that the user configured; a private address is
// reached only where the user named that very host.
//
// Start reading at Client. guard.go holds the origin and the bounds of an answer, place.go the
// addresses, events.go the bounds of a stream.
//
// Known limits: the proxy of the environment (HTTPS_PROXY, NO_PROXY) leads to servers alone, whose
// addresses the user named. Whom a server names in turn, such as who logs its users in, is
// dialled directly: a proxy would resolve that name where nobody judges the answer.
package remote

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"adze/internal/web"
)

// Bounds of one connection.
const (
	// maxHeader bounds the header of an answer in bytes.
	maxHeader = 64 << 10
	// maxRedirects bounds how often one request is sent on.
	maxRedirects = 5
	// issuerPatience bounds one request to an authorization server.
	issuerPatience = 30 * time.Second
	// maxMetadata bounds an answer of an authorization server in bytes.
	maxMetadata = 1 << 20
)

// Error says what a server did that is not gone along with, and the next move.
type Error struct{ Message, Hint string }

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Next is the next move.
func (e *Error) Next() string { return e.Hint }

// Refuse makes one of the next move and what happened.
func Refuse(hint, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), hint}
}

// Client is the client of one server: it speaks to the server's origin alone, sends the headers
// that are configured for it with each request, and bounds what comes back. Each call makes a
// client with connections of its own.
func Client(server *url.URL, headers http.Header) *http.Client {
	near, through := place{server}, (*url.URL)(nil)
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: server}); err == nil && proxy != nil {
		near, through = place{proxy}, proxy // the user named it, too; nothing else is dialled
	}
	return &http.Client{
		Transport: &guard{
			server:  server,
			headers: headers.Clone(),
			flood:   newFlood(time.Now),
			next:    transport(near, through),
		},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return Refuse("look at the server's address", "%s sends each request on to another address", server.Host)
			}
			return sameOrigin(server, to.URL)
		},
	}
}

// Issuers is the client for authorization servers and what describes them: https alone, but at the
// places that the user named in person.
func Issuers(named ...*url.URL) *http.Client {
	p := place(named)
	return &http.Client{
		Timeout:   issuerPatience,
		Transport: secure{p, transport(p, nil)},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			switch {
			case len(via) >= maxRedirects:
				return Refuse("try again later", "%s sends each request on to another address", via[0].URL.Host)
			case to.Method != http.MethodGet || via[0].Method != http.MethodGet: // codes and tokens stay where they were sent
				return Refuse("tell whoever runs it", "%s sends a request that holds a secret on to %s", via[0].URL.Host, to.URL.Host)
			}
			return nil // secure judges the address
		},
	}
}

// transport dials judged addresses alone; through a proxy, where there is one.
func transport(p place, proxy *url.URL) http.RoundTripper {
	return &http.Transport{
		Proxy:                  func(*http.Request) (*url.URL, error) { return proxy, nil },
		DialContext:            p.dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    web.ConnectTimeout,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        90 * time.Second,
	}
}
