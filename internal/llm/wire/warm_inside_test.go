package wire

import (
	"context"
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
			c := Adapt(Options{Name: "p"}, s.URL, nil).Client
			transport := c.HTTP.Transport.(*http.Transport)
			if s.TLS != nil {
				transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			}
			transport.MaxConnsPerHost = 1 // an early request waits for the connection
			c.Warm(t.Context())
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
	c := Adapt(Options{Name: "p"}, s.URL, nil).Client
	c.Warm(t.Context())
	(<-s.open).Close()
	if err := asks(t, &c); err != nil {
		t.Fatal(err)
	}
}

func TestWarmFailsSilently(t *testing.T) {
	c := Adapt(Options{Name: "p"}, "http://127.0.0.1:1", nil).Client // where nobody listens
	c.Warm(t.Context())
	if err := asks(t, &c); err == nil {
		t.Error("a server that is not there answered")
	}
	for _, base := range []string{"", "::", "ftp://a.test", "http://"} {
		c := Adapt(Options{Name: "p"}, base, nil).Client
		c.Warm(t.Context())
	}
	given := Adapt(Options{Name: "p", HTTP: http.DefaultClient}, "http://a.test", nil).Client
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
	c := Adapt(Options{Name: "p"}, "http://"+l.Addr().String(), nil).Client
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
