package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// dialTime bounds the way to a server, and its handshake.
	dialTime = 10 * time.Second
	// warmTime is how long an unused connection waits: servers close those that say nothing.
	warmTime = 20 * time.Second
)

// Warm opens the connection that the first request will use, while other things are made ready. It
// returns at once and sends nothing but what opening takes; what fails is silent, because the
// request will tell. The connection is closed when ctx ends before a request took it. A client of
// the caller, or one behind a proxy, is left alone.
func (c *Client) Warm(ctx context.Context) {
	if c.dialer == nil {
		return
	}
	u, err := url.Parse(c.base)
	if err != nil || u.Hostname() == "" {
		return
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); proxy != nil || err != nil {
		return
	}
	switch u.Scheme {
	case "http":
		c.dialer.warm(ctx, net.JoinHostPort(u.Hostname(), portOf(u, "80")), c.dialer.direct)
	case "https":
		c.dialer.warm(ctx, net.JoinHostPort(u.Hostname(), portOf(u, "443")), c.dialer.secure)
	}
}

func portOf(u *url.URL, standard string) string {
	if p := u.Port(); p != "" {
		return p
	}
	return standard
}

// dialer opens connections, and hands out the one that was opened ahead.
type dialer struct {
	plain func(ctx context.Context, network, addr string) (net.Conn, error)
	now   func() time.Time
	roots *x509.CertPool // if nil, those of the system

	mu     sync.Mutex
	ahead  *ahead   // nobody has taken it
	handed net.Conn // the one that was opened ahead and is in use
}

// ahead is a connection that is being opened for a later request.
type ahead struct {
	addr string
	done chan struct{} // closed when conn and err are set
	conn net.Conn
	err  error
	at   time.Time
}

func newDialer() *dialer {
	d := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}
	return &dialer{plain: d.DialContext, now: time.Now}
}

// secure opens a connection and shakes hands, as net/http would.
func (d *dialer) secure(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.plain(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		conn.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	secure := tls.Client(conn, &tls.Config{ServerName: host, RootCAs: d.roots, NextProtos: []string{"h2", "http/1.1"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

func (d *dialer) warm(ctx context.Context, addr string, dial dialFunc) {
	a := &ahead{addr: addr, done: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ahead != nil || ctx.Err() != nil {
		return
	}
	d.ahead = a
	go func() {
		a.conn, a.err = dial(ctx, "tcp", addr)
		a.at = d.now()
		close(a.done)
	}()
	context.AfterFunc(ctx, func() {
		if d.take(addr) == a {
			<-a.done
			a.close()
		}
	})
}

func (a *ahead) close() {
	if a.conn != nil {
		a.conn.Close()
	}
}

// take is the connection that was opened ahead to an address, once.
func (d *dialer) take(addr string) *ahead {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.ahead
	if a == nil || a.addr != addr {
		return nil
	}
	d.ahead = nil
	return a
}

// open hands out what was opened ahead, or opens another one.
func (d *dialer) open(ctx context.Context, addr string, dial dialFunc) (net.Conn, error) {
	a := d.take(addr)
	if a == nil {
		return dial(ctx, "tcp", addr)
	}
	select {
	case <-a.done:
		if a.err != nil || d.now().Sub(a.at) > warmTime {
			a.close()
			return dial(ctx, "tcp", addr) // what was wrong then may be right now
		}
	default:
		select {
		case <-a.done:
		case <-ctx.Done():
			go func() { <-a.done; a.close() }()
			return nil, ctx.Err()
		}
		if a.err != nil {
			return nil, a.err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handed = a.conn
	return a.conn, nil
}

// early reports whether a connection was opened ahead: like a kept one, the server may have closed
// it.
func (d *dialer) early(conn net.Conn) bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return conn != nil && conn == d.handed
}
