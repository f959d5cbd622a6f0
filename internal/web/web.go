// Package web fetches pages for a model and converts them to text, without letting the page, its
// name server or its redirects decide where this machine connects.
//
// The one rule: connections go only to addresses judged by [Policy], at the time of dialing. The
// package resolves names itself, judges every address and dials exactly that address; nothing
// resolves a name twice. Every decoded byte of a response is counted before it is kept.
//
// Start reading at fetch.go (a fetch and its redirects), then policy.go and address.go (allowed
// targets), body.go (response limits), page.go (rendering), extract.go and markdown.go. Each
// conversion step has its own file (charset, parse, clean, media, code, script, protect,
// plaintext); content.go and names.go find the main content.
//
// Known limits: no JavaScript runs, so a page built by scripts is empty, and the result mentions
// it. Only gzip is decoded. PDF and other documents are refused. Text hidden by style
// sheets stays. An HTTP proxy is never used, so nothing is reachable from behind one.
package web

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"
)

// Limits of one fetch. A caller may ask for less, never for more.
const (
	ConnectTimeout = 10 * time.Second  // for resolving, connecting and the TLS handshake each
	DefaultTimeout = 30 * time.Second  // for the whole fetch, redirects included
	MaxTimeout     = 120 * time.Second // upper bound for Request.Timeout
	MaxDecoded     = 10 << 20          // body bytes after decoding
	MaxRedirects   = 5
	MaxURL         = 8 << 10 // bytes of a URL
	maxHeader      = 256 << 10
	maxExcerpt     = 2 << 10 // bytes quoted from an error page
)

// Format is an output format.
type Format string

// The formats. Markdown and Text are an HTML page's main content; HTML is that content as clean
// markup; Raw is the whole body decoded to UTF-8.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
	HTML     Format = "html"
	Raw      Format = "raw"
)

// Policy allows targets beyond the public web. The zero value allows public addresses on ports 80
// and 443. Each Allow function can permit one thing that is otherwise refused; nil refuses.
type Policy struct {
	AllowPort     func(host string, port uint16) bool
	AllowAddr     func(host string, at netip.AddrPort) bool // loopback, private, reserved and similar
	AllowRedirect func(from, to *url.URL) bool              // to another scheme, host or port; not called from https to http

	// Resolve returns all addresses of a name; nil means the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to a judged address; nil means the system's dialer with a final check. Only
	// tests and embedders that own the network replace it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Now is the cache's clock; nil means time.Now.
	Now func() time.Time
}

// Request describes one fetch.
type Request struct {
	URL      string
	Format   Format        // if empty, Markdown
	Selector string        // CSS; if empty, the main content
	Timeout  time.Duration // if 0, DefaultTimeout; at most MaxTimeout
	MaxBytes int64         // decoded bytes to keep; if 0, MaxDecoded
	Session  string        // cached pages are shared only within one session
	Approved bool          // the user approved this URL: its port, and a host that names this machine literally
	Received *atomic.Int64 // if not nil, counts the decoded body bytes as they arrive
}

// Page is a fetched page.
type Page struct {
	URL       string // final address, after redirects
	Status    int    // HTTP status
	Type      string // media type, without parameters
	Charset   string // original encoding, empty for UTF-8
	Title     string // one line
	Text      string // the content in the requested format, UTF-8
	Image     []byte // set instead of Text if Type is an image
	Redirect  string // target on another scheme, host or port, not fetched
	Bytes     int64  // decoded body bytes kept
	Truncated bool   // a limit cut the content
	Cached    bool   // from this session's cache
	Note      string // one sentence about Text for the reader; usually empty
	// KeptPercent is the percentage of an HTML page's main content that is in Text; 0 if the whole page
	// or a part was requested.
	KeptPercent  int
	RemovedParts []string // descriptions of removed parts that a reader may miss
}

// Fetcher fetches pages under one policy. It is safe for concurrent use.
type Fetcher struct {
	policy Policy
	cache  cache
}

// New returns a Fetcher for p.
func New(p Policy) *Fetcher { return &Fetcher{policy: p} }

func (f *Fetcher) now() time.Time {
	if f.policy.Now != nil {
		return f.policy.Now()
	}
	return time.Now()
}
