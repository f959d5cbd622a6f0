package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"adze/internal/telemetry/metric"
)

// Server answers /healthz, /readyz and /metrics.
type Server struct {
	http   *http.Server
	listen net.Listener
	failed chan error
}

// Listen answers at an address such as 127.0.0.1:9464 until Close. Ready says why no work is taken
// now, in a few words without secrets; if nil, it is.
func Listen(address string, f *Figures, ready func() error) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	s := &Server{listen: l, failed: make(chan error, 1), http: &http.Server{
		Handler: Handler(f, ready), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}}
	go func() { s.failed <- s.http.Serve(l) }()
	return s, nil
}

// Address is where it listens.
func (s *Server) Address() string { return s.listen.Addr().String() }

// Close ends it. Who is being answered has a moment.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	if err := <-s.failed; !errors.Is(err, http.ErrServerClosed) {
		return // it had ended by itself, and nobody could be told but who asked in vain
	}
}

// Handler is what the server answers. It takes nothing: only GET and HEAD.
func Handler(f *Figures, ready func() error) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok\n") })
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if ready != nil {
			if err := ready(); err != nil {
				say(w, http.StatusServiceUnavailable, err.Error()+"\n")
				return
			}
		}
		say(w, http.StatusOK, "ok\n")
	})
	m.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", metric.ContentType)
		_, _ = w.Write([]byte(f.Text())) // a reader that left misses it
	})
	return m
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the same
}
