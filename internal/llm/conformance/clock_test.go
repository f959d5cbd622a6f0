package conformance_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
)

// pipes is a network inside one bubble of fake time.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bubble runs a test against a server in fake time. Handle writes the model's answer.
func bubble(t *testing.T, w Wire, handle http.HandlerFunc, test func(t *testing.T, p session.Provider)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var handlers sync.WaitGroup
		network := &pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			handlers.Add(1)
			defer handlers.Done()
			if !w.Side(rw, r) {
				_, _ = io.Copy(io.Discard, r.Body) // as servers do before they answer
				handle(rw, r)
			}
		})}
		served := make(chan struct{})
		go func() { defer close(served); _ = server.Serve(network) }()
		transport := &http.Transport{DialContext: network.dial}
		test(t, w.New(Options{
			BaseURL: "http://pipe.test", HTTP: &http.Client{Transport: transport}, NewID: counter(), Idle: time.Minute,
		}))
		transport.CloseIdleConnections()
		_ = server.Close()
		<-served
		handlers.Wait()
		// The bubble ends only when every goroutine in it has: a leak is a deadlock here.
	})
}

func send(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text) // the client may be gone
	_ = http.NewResponseController(w).Flush()
}

// halves cuts a stream before a record near its middle.
func halves(s Stream) (before, after string) {
	at := s.Records[len(s.Records)/2]
	return s.Body[:at], s.Body[at:]
}

// cancels: whatever the server does, Done comes at once when the context ends, with its error.
func cancels(t *testing.T, w Wire) {
	a := samples()["parallel"]
	a.Piece = 12
	s := w.Encode(a)
	first, _ := halves(s)
	wait := func(r *http.Request) { <-r.Context().Done() }
	for name, handle := range map[string]http.HandlerFunc{
		"before headers": func(_ http.ResponseWriter, r *http.Request) { wait(r) },
		"before content": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", s.ContentType)
			send(rw, "")
			wait(r)
		},
		"between chunks": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", s.ContentType)
			send(rw, first)
			wait(r)
		},
		"in a refusal": func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(http.StatusInternalServerError)
			send(rw, "{")
			wait(r)
		},
		"amid pings": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", s.ContentType)
			for r.Context().Err() == nil {
				send(rw, w.Ping())
				time.Sleep(300 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, w, handle, func(t *testing.T, p session.Provider) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				start := time.Now()
				time.AfterFunc(time.Second, cancel)
				g := collect(ctx, t, p, question("hello"))
				took := time.Since(start)
				if g.done.Stop != session.StopAborted || !errors.Is(g.done.Err, context.Canceled) {
					t.Errorf("got\n%s", g)
				}
				if took < time.Second || took > 1200*time.Millisecond {
					t.Errorf("done %v after the request, cancelled after 1s", took)
				}
			})
		})
	}
}

// dials: a server that cannot be reached keeps nobody who wants to leave, and Done says why.
func dials(t *testing.T, w Wire) {
	synctest.Test(t, func(t *testing.T) {
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		defer transport.CloseIdleConnections()
		p := w.New(Options{BaseURL: "http://far.test", HTTP: &http.Client{Transport: transport}, NewID: counter(), Idle: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		g := collect(ctx, t, p, question("hello"))
		if took := time.Since(start); g.done.Stop != session.StopAborted || took > 1200*time.Millisecond {
			t.Errorf("after %v:\n%s", took, g)
		}
		start = time.Now()
		if g := collect(t.Context(), t, p, question("hello")); g.kind() != session.NetworkError || time.Since(start) > time.Minute {
			t.Errorf("after %v:\n%s", time.Since(start), g)
		}
	})
}

// idles: only content keeps a stream alive, and a complete answer waits for nothing.
func idles(t *testing.T, w Wire) {
	s := w.Encode(samples()["parallel"])
	first, second := halves(s)
	pings := func(rw http.ResponseWriter, r *http.Request, prefix string) {
		rw.Header().Set("Content-Type", s.ContentType)
		send(rw, prefix)
		for r.Context().Err() == nil {
			send(rw, w.Ping())
			time.Sleep(7 * time.Second)
		}
	}
	for _, c := range []struct {
		name     string
		handle   http.HandlerFunc
		kind     session.ErrorKind
		min, max time.Duration
	}{
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			session.NetworkError, time.Minute, time.Minute},
		{"pings", func(rw http.ResponseWriter, r *http.Request) { pings(rw, r, "") },
			session.NetworkError, time.Minute, time.Minute},
		{"content, then pings", func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(50 * time.Second)
			pings(rw, r, first)
		}, session.NetworkError, 110 * time.Second, 110 * time.Second},
		{"slow", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", s.ContentType)
			time.Sleep(50 * time.Second)
			send(rw, first)
			time.Sleep(50 * time.Second)
			send(rw, second)
		}, "", 100 * time.Second, 103 * time.Second},
		{"open end", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", s.ContentType)
			send(rw, s.Body)
			<-r.Context().Done()
		}, "", 0, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, w, c.handle, func(t *testing.T, p session.Provider) {
				start := time.Now()
				g := collect(t.Context(), t, p, question("hello"))
				if took := time.Since(start); g.kind() != c.kind || took < c.min || took > c.max {
					t.Errorf("after %v:\n%s", took, g)
				}
				if c.kind != "" && !strings.Contains(g.done.Err.Error(), "1m0s") {
					t.Errorf("the message does not tell the time: %v", g.done.Err)
				}
			})
		})
	}
}

// leaves: a consumer may stop at any chunk; nothing is left behind.
func leaves(t *testing.T, w Wire) {
	a := samples()["parallel"]
	a.Piece = 40
	s := w.Encode(a)
	serve := func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", s.ContentType)
		send(rw, s.Body)
		<-r.Context().Done()
	}
	for n := 1; n < 12; n++ {
		bubble(t, w, serve, func(t *testing.T, p session.Provider) {
			left := n
			for range p.Stream(t.Context(), question("hello")) {
				if left--; left == 0 {
					break
				}
			}
		})
	}
}
