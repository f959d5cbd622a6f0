package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"adze/session"
)

// Limits of one exchange.
const (
	// maxBody bounds a whole answer: a 128,000-token answer with 1 KiB of framing a token fits
	// twice.
	maxBody = 256 << 20
	// maxErrorBody is how much of a refusal is read.
	maxErrorBody = 64 << 10
	// settleTime is how long the tail of an answer (usage, [DONE]) is awaited after its terminal
	// event.
	settleTime = 2 * time.Second
	// drainTime and drainBytes bound the wait for the end of the body, which keeps the connection.
	drainTime  = 100 * time.Millisecond
	drainBytes = 64 << 10
	// dialTime bounds the way to a server, and its handshake.
	dialTime = 10 * time.Second
	// maxIdleTime is how long a connection is kept unused: servers close those that say nothing.
	maxIdleTime = 90 * time.Second
)

// DefaultIdle is how long a hosted provider may send no content, and LocalIdle how long a local
// server may: reading a long prompt on a CPU takes minutes.
const (
	DefaultIdle = 5 * time.Minute
	LocalIdle   = 15 * time.Minute
)

var (
	errIdle  = errors.New("no content in time")
	errDrain = errors.New("the answer is complete")
)

// HTTP makes a client that keeps one connection, dials when first used, and follows no redirect: a
// redirect would carry the key to another host and turn the request into a GET. A client of the
// caller keeps its transport.
func HTTP(given *http.Client) *http.Client {
	c := http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        4,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     maxIdleTime,
		TLSHandshakeTimeout: dialTime,
		// Compressed event streams arrive in blocks, which is not streaming.
		DisableCompression: true,
	}}
	if given != nil {
		c = *given
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Client speaks with one provider.
type Client struct {
	Provider string // its name in messages
	HTTP     *http.Client
	Idle     time.Duration // between pieces of content; pings do not count
	Secret   string        // masked in every message
	KeyHint  string        // what to do about a refused key
	URLHint  string        // what to do about an unreachable server

	base   string // set by Adapt, as is what follows
	header http.Header
	newID  func() string
}

// Call is one HTTP request.
type Call struct {
	Method, URL string
	Header      http.Header
	Body        *Body // if nil, none
}

// Open sends a request and waits for a good status. The error is a *session.ProviderError or ctx's
// error.
func (c *Client) Open(ctx context.Context, call Call) (*Reply, error) {
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
		return r, nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // a cut refusal is still a refusal
	r.Close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, c.statusError(response.StatusCode, response.Header, body)
}

// maxStale is how many kept connections may turn out to be closed before it counts as a failure.
const maxStale = 2

// do sends the request. A kept connection that the server closed meanwhile fails before the first
// byte of an answer; the request is sent again on another one.
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

// Reply is the body of a good answer, with an idle clock that only Content restarts.
type Reply struct {
	client       *Client
	outer, inner context.Context
	cancel       context.CancelCauseFunc
	clock        *time.Timer
	response     *http.Response
	left         int64
	body         *bufio.Reader // of receive
	settled      bool
}

// ContentType is what the server says it sends.
func (r *Reply) ContentType() string { return r.response.Header.Get("Content-Type") }

// Read reads the body. Its errors are io.EOF, a *session.ProviderError, or the context's error.
func (r *Reply) Read(p []byte) (int, error) { return r.body.Read(p) }

type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// receive reads what no buffer holds.
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

// Content says that the server sent something that counts: the idle clock starts again, and what
// seemed to be the end was not.
func (r *Reply) Content() {
	r.settled = false
	r.clock.Reset(r.client.Idle)
}

// Settle says that the terminal event has come. Only the tail is awaited, for a short time.
func (r *Reply) Settle() {
	r.settled = true
	r.clock.Reset(settleTime)
}

// OnlyTail reports whether an error of Read cost nothing but the tail: the connection broke, or
// nothing more came, after the terminal event.
func (r *Reply) OnlyTail(err error) bool {
	var failure *session.ProviderError
	return r.settled && r.outer.Err() == nil &&
		errors.As(err, &failure) && failure.Kind == session.NetworkError
}

// Close ends the exchange. After a terminal event the rest of the body is read, so that the
// connection can be used again.
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

// explain turns what net/http says into a failure for the user.
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
