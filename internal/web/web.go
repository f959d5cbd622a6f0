// Package web fetches a page that a model asked for, without letting the page, its name server or
// its redirects decide what this machine connects to, and turns it into text that a model can read.
//
// The one rule: a connection goes only to an address that [Policy] judged, and it is judged where
// it is dialled. The name is resolved here, every answer is judged, and the very address is dialled
// and judged again by the dialer; nothing resolves a name twice. A second rule follows for what
// comes back: every byte is counted before it is kept, on the wire and decoded.
//
// Where to start: fetch.go (one fetch, redirects by hand), then policy.go and address.go (what may
// be reached), body.go (what may come back), page.go (what becomes of it), extract.go and
// markdown.go. The steps from bytes to text have a file each (charset, parse, clean, media, code,
// script, protect, plaintext); content.go and names.go find the main content.
//
// Nothing is done at import or by [New]: the first fetch builds what it needs and closes it after.
//
// Known limits: no JavaScript runs, so a page built by scripts is empty, and the result says so.
// Only gzip and deflate are decoded. PDF and other documents are refused. Inline styles hide text
// here, style sheets do not. An HTTP proxy is never used, so behind one nothing is reachable.
package web

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"
)

// Limits of one fetch. They are part of the policy: a caller may ask for less, never for more.
const (
	ConnectTimeout = 10 * time.Second  // resolve, connect, TLS handshake, each
	DefaultTimeout = 30 * time.Second  // the whole fetch, redirects included
	MaxTimeout     = 120 * time.Second // the longest that a caller may ask for
	MaxWire        = 5 << 20           // body bytes received, before decoding
	MaxDecoded     = 10 << 20          // body bytes after decoding
	MaxRatio       = 100               // decoded bytes for each received byte
	MaxRedirects   = 5
	MaxURL         = 8 << 10 // bytes of an address
	maxHeader      = 256 << 10
	maxExcerpt     = 2 << 10 // bytes of an error page that are quoted
)

// Format is what a page is turned into.
type Format string

// The formats. Markdown and Text keep the main content of HTML; HTML is that content as clean
// markup; Raw is the body as it came, decoded to UTF-8.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
	HTML     Format = "html"
	Raw      Format = "raw"
)

// Policy says what may be reached beyond the public web. The zero value allows public addresses on
// ports 80 and 443. Each func is asked about one thing otherwise refused; nil refuses.
type Policy struct {
	AllowPort     func(host string, port uint16) bool
	AllowAddr     func(host string, at netip.AddrPort) bool // loopback, private, reserved and so on
	AllowRedirect func(from, to *url.URL) bool              // to another scheme, host or port; never asked from https to http

	// Resolve returns all addresses of a name; nil is the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that was judged; nil dials it with a last check by the system's
	// dialer. Only tests and embedders that own the network replace it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Now is the clock of the cache; nil is time.Now.
	Now func() time.Time
	// UserAgent names this program to servers; empty is "adze".
	UserAgent string
}

// Request is one fetch.
type Request struct {
	URL      string
	Format   Format        // if empty, Markdown
	Selector string        // CSS; if empty, the main content
	Timeout  time.Duration // if 0, DefaultTimeout; at most MaxTimeout
	MaxBytes int64         // decoded bytes to keep; if 0, MaxDecoded
	Session  string        // cached pages are shared within one session only
	Approved bool          // a user said yes to this URL: its port, and a host that is this machine in so many words
	Received *atomic.Int64 // when given, counts the body's bytes as they arrive
}

// Page is what a fetch found.
type Page struct {
	URL       string // final address, after redirects
	Status    int    // HTTP status
	Type      string // media type, without parameters
	Charset   string // encoding that the text was decoded from, when it was not UTF-8
	Title     string // one line
	Text      string // the content in the requested format, UTF-8
	Image     []byte // the bytes instead of Text, when Type is an image
	Redirect  string // where the server points, by another scheme or on another host; nothing was fetched from there
	Bytes     int64  // decoded body bytes kept
	Truncated bool   // the server had more than a limit let in
	Cached    bool   // from this session's cache
	Note      string // what a reader should know about Text, in one sentence; mostly empty
	// Kept is the share of the main content in the text of an HTML page, in percent. It is 0 where the
	// whole page or a part of it was asked for.
	Kept int
	Left []string // what was left out that a reader may miss, in words
}

// Fetcher fetches pages by one policy. It may be used by many goroutines.
type Fetcher struct {
	policy Policy
	cache  cache
}

// New returns a Fetcher; it does no work.
func New(p Policy) *Fetcher { return &Fetcher{policy: p} }

// now is the time by the policy's clock.
func (f *Fetcher) now() time.Time {
	if f.policy.Now != nil {
		return f.policy.Now()
	}
	return time.Now()
}
