package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"time"
)

// newWeb returns the server for CONNECT and absolute addresses. The standard library parses and
// rewrites each request, so the forwarded one is the judged one.
func (s *Server) newWeb() *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadHeaderTimeout: headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHead,
		ErrorLog:          log.New(io.Discard, "", 0), // a client that hangs up is no error
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
	}
}

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		return
	}
	defer s.running.Done()
	switch {
	case r.Method == http.MethodConnect:
		s.connect(w, r)
	case r.URL.IsAbs() && r.URL.Scheme == "http":
		s.forward(w, r)
	default:
		http.Error(w, "adze: this is the proxy of a command's sandbox; send CONNECT or an absolute http:// address", http.StatusBadRequest)
	}
}

func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.RequestURI) // unparsed: r.Host lacks the part before an @
	if err != nil {
		http.Error(w, "adze: CONNECT needs host:port", http.StatusBadRequest)
		return
	}
	to, err := s.target(host, port)
	if err != nil {
		http.Error(w, "adze: "+err.Error(), http.StatusBadRequest)
		return
	}
	target, err := s.reach(r.Context(), to)
	if err != nil {
		refuse(w, err)
		return
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		target.Close()
		refuse(w, err)
		return
	}
	defer client.Close()
	client.SetDeadline(time.Time{})
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		target.Close()
		return
	}
	s.relay(to, &ahead{client, buffered.Reader}, target)
}

// ahead is a connection with some bytes already read by the web server.
type ahead struct {
	net.Conn
	reader io.Reader
}

func (a *ahead) Read(p []byte) (int, error) { return a.reader.Read(p) }
func (a *ahead) CloseWrite() error          { return closeWrite(a.Conn) }

// forward sends one plain request over its own connection.
func (s *Server) forward(w http.ResponseWriter, r *http.Request) {
	port := r.URL.Port()
	if port == "" {
		port = "80"
	}
	to, err := s.target(r.URL.Hostname(), port)
	if err != nil || r.URL.User != nil {
		http.Error(w, fmt.Sprintf("adze: %s is not an address that is carried", bounded(r.URL.Redacted())), http.StatusBadRequest)
		return
	}
	target, err := s.reach(r.Context(), to)
	if err != nil {
		refuse(w, err)
		return
	}
	defer target.Close()
	counted := &counter{Conn: target}
	pass := httputil.ReverseProxy{
		Transport: &http.Transport{
			DialContext:       func(context.Context, string, string) (net.Conn, error) { return counted, nil },
			DisableKeepAlives: true, DisableCompression: true,
		},
		Rewrite:       func(p *httputil.ProxyRequest) { p.Out.Host = p.In.URL.Host },
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, err) },
	}
	defer func() { s.carry(to, counted.sent.Load(), counted.received.Load()) }()
	// By default, a response that begins before the request is read breaks off (golang/go#40747).
	_ = http.NewResponseController(w).EnableFullDuplex()
	pass.ServeHTTP(w, r)
}

// refuse responds with text that programs print: 403 for a target not allowed, 502 for one not
// reached (RFC 9209 names both in Proxy-Status).
func refuse(w http.ResponseWriter, err error) {
	status, kind := http.StatusBadGateway, "destination_unavailable"
	var refused *refusal
	if errors.As(err, &refused) {
		status, kind = http.StatusForbidden, "http_request_denied"
	}
	w.Header().Set("Proxy-Status", "adze; error="+kind)
	http.Error(w, "adze: "+err.Error(), status)
}
