// Package remote makes HTTP clients for remote MCP servers and the hosts that they name.
//
// The one rule: a server's response decides neither the destination of a secret nor the amount
// read. A server's client reaches only the configured origin; a private address is used only if the
// user named its host.
//
// Start reading at Client. guard.go enforces the origin and response limits, place.go checks
// addresses, events.go limits streams.
//
// Known limits: the environment's proxy (HTTPS_PROXY, NO_PROXY) is used for servers only, whose
// addresses the user named. Hosts named by a server, such as its issuers, are reached directly: a
// proxy would resolve the name without our check.
package remote

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"adze/internal/web"
)

// Limits of one connection.
const (
	// maxHeader limits a response's header, in bytes.
	maxHeader = 64 << 10
	// maxRedirects limits a request's redirects.
	maxRedirects = 5
	// issuerPatience limits a request to an authorization server.
	issuerPatience = 30 * time.Second
	// maxMetadata limits an authorization server's response, in bytes.
	maxMetadata = 1 << 20
)

// Error means that a server's behavior was rejected. Hint is the next step.
type Error struct{ Message, Hint string }

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Next returns the next step.
func (e *Error) Next() string { return e.Hint }

// Refuse returns an Error.
func Refuse(hint, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), hint}
}

// Client returns a client for one server: it reaches only the server's origin, adds the configured
// headers, and limits responses. Each call makes new connections.
func Client(server *url.URL, headers http.Header) *http.Client {
	near, through := place{server}, (*url.URL)(nil)
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: server}); err == nil && proxy != nil {
		near, through = place{proxy}, proxy // the user named the proxy too; nothing else is used
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

// Issuers returns a client for authorization servers and their metadata: https only, except for
// hosts that the user named.
func Issuers(named ...*url.URL) *http.Client {
	p := place(named)
	return &http.Client{
		Timeout:   issuerPatience,
		Transport: secure{p, transport(p, nil)},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			switch {
			case len(via) >= maxRedirects:
				return Refuse("try again later", "%s sends each request on to another address", via[0].URL.Host)
			case to.Method != http.MethodGet || via[0].Method != http.MethodGet: // codes and tokens must not be forwarded
				return Refuse("tell whoever runs it", "%s sends a request that holds a secret on to %s", via[0].URL.Host, to.URL.Host)
			}
			return nil // secure checks the address
		},
	}
}

// transport connects to checked addresses only, or through the proxy if there is one.
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
