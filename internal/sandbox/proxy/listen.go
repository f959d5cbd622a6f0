package proxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// Serve accepts connections until l or the server is closed, and closes l. It returns nil after
// [Server.Close].
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.begin() {
		return nil
	}
	defer s.running.Done()
	stop := context.AfterFunc(s.ctx, func() { l.Close() })
	defer stop()
	err := s.web.Serve(listener{l, s})
	if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// begin adds a running task, unless the server is closed.
func (s *Server) begin() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return false
	}
	s.running.Add(1)
	return true
}

// listener limits the server to MaxConnections at once. More wait in the kernel's queue.
type listener struct {
	net.Listener
	server *Server
}

func (l listener) Accept() (net.Conn, error) {
	select {
	case l.server.slots <- struct{}{}:
	case <-l.server.ctx.Done():
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.server.slots
		return nil, err
	}
	return l.server.track(conn, func() { <-l.server.slots }), nil
}

// track returns a connection that ends with the server, and calls free when it is closed.
func (s *Server) track(c net.Conn, free func()) net.Conn {
	stop := context.AfterFunc(s.ctx, func() { c.Close() })
	return &tracked{c, sync.OnceFunc(func() { stop(); free() })}
}

type tracked struct {
	net.Conn
	release func()
}

func (t *tracked) CloseWrite() error { return closeWrite(t.Conn) }

func (t *tracked) Close() error {
	t.release()
	return t.Conn.Close()
}
