package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"adze/session"
)

// Limits of one exchange.
const (
	// For an answer: 128,000 tokens with 1 KiB of framing each fit twice.
	maxBody = 256 << 20
	// For an error response.
	maxErrorBody = 64 << 10
	// How long to wait for an answer's tail (usage, [DONE]) after its terminal event.
	settleTime = 2 * time.Second
	// Limits for reading to the end of the body, which keeps the connection.
	drainTime  = 100 * time.Millisecond
	drainBytes = 64 << 10
	// For connecting, and for the handshake.
	dialTime = 10 * time.Second
	// Servers close idle connections.
	maxIdleTime = 90 * time.Second
)

// Longest times without content, from a hosted and a local server: reading a long prompt on a CPU
// takes minutes.
const (
	DefaultIdle = 5 * time.Minute
	LocalIdle   = 15 * time.Minute
)

var (
	errIdle  = errors.New("no content in time")
	errDrain = errors.New("the answer is complete")
)

// HTTP returns a client that keeps one connection and follows no redirect: a redirect would send
// the key to another host and turn the request into a GET. The transport of a given client is kept.
func HTTP(given *http.Client) *http.Client {
	c := http.Client{}
	if given != nil {
		c = *given
	} else {
		c.Transport = Transport()
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Transport returns a transport for a provider.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        4,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     maxIdleTime,
		TLSHandshakeTimeout: dialTime,
		// Compressed event streams arrive in blocks instead of streaming.
		DisableCompression: true,
	}
}

// proxy returns the environment's proxy, but none for what answers only on this machine's own link,
// such as a cloud's credentials; Amazon serves those at fd00:ec2:: too.
func proxy(r *http.Request) (*url.URL, error) {
	if ip, err := netip.ParseAddr(r.URL.Hostname()); err == nil && (ip.IsLinkLocalUnicast() || strings.HasPrefix(ip.String(), "fd00:ec2::")) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// A Client talks to one provider.
type Client struct {
	Provider string // name in messages
	HTTP     *http.Client
	Idle     time.Duration // between pieces of content; pings do not count
	Secret   string        // redacted in every message
	KeyHint  string        // for a refused key
	URLHint  string        // for an unreachable server

	Door *Door // may be nil

	base   string // set by Adapt, like the fields below
	header http.Header
	newID  func() string
}

// A Call is one HTTP request.
type Call struct {
	Method, URL string
	Header      http.Header
	Body        *Body // may be nil
}

// Open sends a request and waits for a successful status. A request whose credentials have ended is
// sent once more with new ones. The error is a *session.ProviderError or ctx's error.
func (c *Client) Open(ctx context.Context, call Call) (*Reply, error) {
	call.URL = c.Door.address(call.URL)
	r, err := c.open(ctx, call)
	if err != nil && c.Door.renews(err) {
		return c.open(ctx, call)
	}
	return r, err
}

func (c *Client) open(ctx context.Context, call Call) (*Reply, error) {
	inner, cancel := context.WithCancelCause(ctx)
	r := &Reply{client: c, outer: ctx, inner: inner, cancel: cancel, left: maxBody}
	r.clock = time.AfterFunc(c.Idle, func() { cancel(errIdle) })
	response, err := c.do(inner, call)
	if err != nil {
		err = r.explain(err)
		r.Close()
		return nil, err
	}
	r.response = response
	r.body = bufio.NewReader(readFunc(r.receive))
	if response.StatusCode/100 == 2 {
		if c.Door != nil && c.Door.Read != nil {
			r.body = bufio.NewReader(c.Door.Read(r.body))
		}
		return r, nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // a truncated error is still an error
	r.Close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, c.statusError(response.StatusCode, response.Header, body)
}

// Connections found closed before the request fails.
const maxStale = 2

// do sends the request. If the server has closed a kept connection, the request fails before the
// first byte of a response and is sent again on another one.
func (c *Client) do(ctx context.Context, call Call) (*http.Response, error) {
	for try := 0; ; try++ {
		var stale atomic.Bool
		request, err := newRequest(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn:              func(i httptrace.GotConnInfo) { stale.Store(i.Reused || i.WasIdle) },
			GotFirstResponseByte: func() { stale.Store(false) },
		}), call)
		if err != nil {
			return nil, c.failure(session.RequestError, "the address of "+c.Provider+" is not valid", c.URLHint)
		}
		if err := c.Door.sign(ctx, request, call.Body); err != nil {
			return nil, err
		}
		response, err := c.HTTP.Do(request)
		if err == nil || try == maxStale || !stale.Load() || ctx.Err() != nil {
			return response, err
		}
	}
}

func newRequest(ctx context.Context, call Call) (*http.Request, error) {
	var body io.Reader
	if call.Body != nil {
		body = call.Body.Reader()
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, call.URL, body)
	if err != nil {
		return nil, err
	}
	request.Header = call.Header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("User-Agent", "adze")
	if call.Method == http.MethodPost && request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "text/event-stream")
	}
	if call.Body != nil {
		request.ContentLength = call.Body.Len()
		request.GetBody = func() (io.ReadCloser, error) { return call.Body.Reader(), nil }
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// A Reply is the body of a successful response, with an idle timer that only Content restarts.
type Reply struct {
	client       *Client
	outer, inner context.Context
	cancel       context.CancelCauseFunc
	clock        *time.Timer
	response     *http.Response
	left         int64
	body         *bufio.Reader // reads from receive
	settled      bool
}

// ContentType returns the declared content type.
func (r *Reply) ContentType() string { return r.response.Header.Get("Content-Type") }

// Read reads the body. Its errors are io.EOF, a *session.ProviderError, or the context's error.
func (r *Reply) Read(p []byte) (int, error) { return r.body.Read(p) }

type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// receive reads from the connection.
func (r *Reply) receive(p []byte) (int, error) {
	if err := r.outer.Err(); err != nil {
		return 0, err
	}
	if r.left <= 0 {
		return 0, r.client.Bad("sent an answer without end")
	}
	n, err := r.response.Body.Read(p)
	r.left -= int64(n)
	if err != nil && err != io.EOF {
		err = r.explain(err)
	}
	return n, err
}

// Content restarts the idle timer and revokes MarkEnd.
func (r *Reply) Content() {
	r.settled = false
	r.clock.Reset(r.client.Idle)
}

// MarkEnd marks the terminal event: only a short wait for the tail remains.
func (r *Reply) MarkEnd() {
	r.settled = true
	r.clock.Reset(settleTime)
}

// OnlyTail reports whether a Read error came after the terminal event and lost only the tail.
func (r *Reply) OnlyTail(err error) bool {
	var failure *session.ProviderError
	return r.settled && r.outer.Err() == nil &&
		errors.As(err, &failure) && failure.Kind == session.NetworkError
}

// Close ends the exchange. After a terminal event it reads the rest of the body, so that the
// connection can be reused.
func (r *Reply) Close() {
	if r.response != nil {
		if r.settled {
			r.clock.Reset(drainTime)
			_, _ = io.CopyN(io.Discard, r.response.Body, drainBytes) // best effort
		}
		_ = r.response.Body.Close()
	}
	r.clock.Stop()
	r.cancel(errDrain)
}

// explain converts a net/http error into a failure for the user.
func (r *Reply) explain(err error) error {
	if r.outer.Err() != nil {
		return r.outer.Err()
	}
	var known *session.ProviderError
	if errors.As(err, &known) {
		return known
	}
	if context.Cause(r.inner) == errIdle {
		return r.client.failure(session.NetworkError,
			r.client.Provider+" sent nothing for "+r.client.Idle.String(), "try again, or raise the idle timeout")
	}
	return r.client.networkError(err, r.response != nil)
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
