package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// served is a server that counts connections and requests, and tells of each new connection.
type served struct {
	*httptest.Server
	conns, requests atomic.Int32
	open            chan net.Conn
}

func serve(t *testing.T, start func(*httptest.Server)) *served {
	s := &served{open: make(chan net.Conn, 9)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.requests.Add(1)
		_, _ = io.WriteString(w, "ok")
	}))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
			s.open <- c
		}
	}
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

// asks makes a request and returns what came of it.
func asks(t *testing.T, c *Client) error {
	t.Helper()
	reply, err := c.Post(t.Context(), "/", &Body{})
	if err != nil {
		return err
	}
	defer reply.Close()
	_, err = io.ReadAll(reply)
	reply.settled = true
	return err
}

func TestWarmConnectionServesTheFirstRequest(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){
		"http":  (*httptest.Server).Start,
		"https": (*httptest.Server).StartTLS,
		"http2": func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, start)
			c := Connect(Setup{Name: "p", Base: s.URL})
			if s.TLS != nil {
				c.dialer.roots = x509.NewCertPool()
				c.dialer.roots.AddCert(s.Certificate())
			}
			c.Warm(t.Context())
			c.Warm(t.Context()) // once is enough
			<-s.open
			if s.requests.Load() != 0 {
				t.Error("something was asked ahead")
			}
			for range 3 {
				if err := asks(t, &c); err != nil {
					t.Fatal(err)
				}
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
			c.HTTP.CloseIdleConnections()
		})
	}
}

func TestWarmConnectionThatTheServerClosedCostsNothing(t *testing.T) {
	s := serve(t, (*httptest.Server).Start)
	c := Connect(Setup{Name: "p", Base: s.URL})
	c.Warm(t.Context())
	(<-s.open).Close()
	if err := asks(t, &c); err != nil {
		t.Fatal(err)
	}
}

func TestWarmConnectionThatIsOldIsNotUsed(t *testing.T) {
	s := serve(t, (*httptest.Server).Start)
	c := Connect(Setup{Name: "p", Base: s.URL})
	c.Warm(t.Context())
	<-c.dialer.ahead.done
	c.dialer.now = func() time.Time { return time.Now().Add(2 * warmTime) }
	if err := asks(t, &c); err != nil || s.conns.Load() != 2 {
		t.Errorf("%v over %d connections", err, s.conns.Load())
	}
}

func TestWarmFailsSilently(t *testing.T) {
	c := Connect(Setup{Name: "p", Base: "http://127.0.0.1:1"}) // where nobody listens
	c.Warm(t.Context())
	<-c.dialer.ahead.done
	if err := asks(t, &c); err == nil {
		t.Error("a server that is not there answered")
	}
	for _, base := range []string{"", "::", "ftp://a.test", "http://"} {
		c := Connect(Setup{Name: "p", Base: base})
		c.Warm(t.Context())
		if c.dialer.ahead != nil {
			t.Errorf("%q was dialled", base)
		}
	}
	given := Connect(Setup{Name: "p", Base: "http://a.test", HTTP: http.DefaultClient})
	given.Warm(t.Context()) // nothing to do
}

// leavesNothing checks at the end that nothing runs which did not run before. What has ended may
// still be on its way out.
func leavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		err := goleak.Find(before)
		for start := time.Now(); err != nil && time.Since(start) < time.Minute; err = goleak.Find(before) {
			runtime.Gosched()
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func TestWarmConnectionThatNobodyTookIsClosed(t *testing.T) {
	leavesNothing(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := Connect(Setup{Name: "p", Base: "http://" + l.Addr().String()})
	ctx, cancel := context.WithCancel(t.Context())
	c.Warm(ctx)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, %v, want the end", n, err)
	}
}

// A request that comes while the way is still being opened waits for it, but not longer than it
// wants.
func TestRequestJoinsTheDial(t *testing.T) {
	leavesNothing(t)
	d := newDialer()
	way := make(chan net.Conn, 1)
	d.plain = func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case c := <-way:
			return c, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	here, there := net.Pipe()
	defer there.Close()
	d.warm(t.Context(), "a:1", d.plain)
	go func() { way <- here }()
	if got, err := d.open(t.Context(), "a:1", d.plain); got != here || err != nil || !d.early(here) {
		t.Errorf("%v, %v", got, err)
	}
	here.Close()
	background, end := context.WithCancel(t.Context())
	d.warm(background, "a:1", d.plain)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.open(impatient, "a:1", d.plain); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	end()
}
