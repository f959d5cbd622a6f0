// Package websearch queries the search engine configured by the user and returns titles, URLs and
// excerpts.
//
// The one rule: it connects only to the configured host, through the given connector, follows no
// redirect, and counts every byte before keeping it. The key is sent in a header and never appears
// in a URL, error or log.
//
// Start reading at Engine.Search; engines.go has the differences between engines, answer.go parses
// results.
//
// Known limits: one page of results, no engine-specific filters; operators in the query
// (site:example.com) work.
package websearch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Bounds for a search.
const (
	DefaultTimeout = 20 * time.Second
	MaxQuery       = 400 // characters: the limit of the strictest engine
	MaxResults     = 20
	maxBody        = 2 << 20 // bytes, decoded
	maxHeader      = 64 << 10
)

// Options select the engine and its connection.
type Options struct {
	Engine  string // one of Engines
	BaseURL string // if empty, the company's server; required for SearXNG
	Key     string // if empty, none is sent
	// KeyName is the key's variable, for hints.
	KeyName string
	// Connect dials a host, given in lower-case ASCII, and decides whether it is allowed.
	Connect func(ctx context.Context, host string, port uint16) (net.Conn, error)
	Timeout time.Duration // if 0, DefaultTimeout
}

// Result is a page found by an engine. All fields are untrusted web content.
type Result struct {
	Title, URL, Excerpt string
	Date                string // in the engine's format; often empty
}

// Engine is a configured search engine. It is safe for concurrent use.
type Engine struct {
	kind kind
	base *url.URL
	o    Options
}

// New returns an Engine; its errors are for the user. It opens no connection.
func New(o Options) (*Engine, error) {
	k, ok := kindOf(o.Engine)
	if !ok {
		return nil, fmt.Errorf("there is no search engine %q; there are %s", o.Engine, strings.Join(Engines(), ", "))
	}
	if o.BaseURL == "" {
		o.BaseURL = k.home
	}
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	switch {
	case o.BaseURL == "":
		return nil, fmt.Errorf("the search engine %s needs a base_url", o.Engine)
	case err != nil || base.Hostname() == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, fmt.Errorf("the base_url of the search engine is no address that begins with https:// or http://")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("the base_url of the search engine holds more than a host and a path; a key belongs into the variable that key_env names")
	case k.needsKey && o.Key == "":
		return nil, fmt.Errorf("the search engine %s needs a key: set %s", o.Engine, o.KeyName)
	}
	base.Host = strings.ToLower(base.Host)
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return &Engine{kind: k, base: base, o: o}, nil
}

// Name returns the engine's configured name.
func (e *Engine) Name() string { return e.kind.name }

// Address returns the target of searches: scheme, host and port.
func (e *Engine) Address() string { return e.base.Scheme + "://" + e.base.Host }

// Host returns the only host that it dials.
func (e *Engine) Host() string { return e.base.Hostname() }

// Port returns the URL's port, or the scheme's default.
func (e *Engine) Port() uint16 {
	if n, err := strconv.ParseUint(e.base.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	return map[string]uint16{"http": 80, "https": 443}[e.base.Scheme]
}

// Check returns an error if a query is invalid.
func Check(query string) error {
	switch {
	case strings.TrimSpace(query) == "":
		return fail(codeInvalid, "the query is empty; say what to look for")
	case len([]rune(query)) > MaxQuery:
		return fail(codeInvalid, "the query has %d characters, at most %d; use fewer words", len([]rune(query)), MaxQuery)
	}
	return nil
}

// Search returns at most limit results. Its errors are for the model, with a stable code.
func (e *Engine) Search(ctx context.Context, query string, limit int) ([]Result, error) {
	if err := Check(query); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.o.Timeout, errTimeout)
	defer cancel()
	limit = max(1, min(limit, MaxResults))
	req, err := e.kind.request(ctx, e.base, strings.TrimSpace(query), limit)
	if err != nil {
		return nil, fail(codeIO, "the search cannot be asked: %v", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "adze")
	if e.o.Key != "" {
		e.kind.authorise(req.Header, e.o.Key)
	}
	t := e.transport()
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(req) // a redirect is not followed: the key goes to no other host
	if err != nil {
		return nil, e.explain(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, e.refused(resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, e.explain(ctx, err)
	case len(raw) > maxBody:
		return nil, fail(codeTooLarge, "%s answered with more than %d bytes; ask for less, or fetch a page that you know", e.Name(), maxBody)
	}
	found, err := e.kind.read(raw)
	if err != nil {
		return nil, fail(codeIO, "%s answered with something that is no list of results; tell the person, and go on without a search", e.Name())
	}
	return kept(found, limit), nil
}

func (e *Engine) transport() *http.Transport {
	return &http.Transport{
		Proxy: nil,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return e.o.Connect(ctx, e.Host(), e.Port())
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
	}
}
