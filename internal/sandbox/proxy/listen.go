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
	c := &client{Conn: conn, server: l.server}
	if !l.server.hold(c) {
		return nil, net.ErrClosed
	}
	return c, nil
}

type client struct {
	net.Conn
	server *Server
	once   sync.Once
}

func (c *client) CloseWrite() error { return closeWrite(c.Conn) }

func (c *client) Close() error {
	c.once.Do(func() {
		c.server.forget(c)
		<-c.server.slots
	})
	return c.Conn.Close()
}

// hold registers a connection for Close.
func (s *Server) hold(conn net.Conn) bool {
	s.mutex.Lock()
	closed := s.closed
	if !closed {
		s.open[conn] = true
	}
	s.mutex.Unlock()
	if closed {
		conn.Close()
	}
	return !closed
}

func (s *Server) forget(conn net.Conn) {
	s.mutex.Lock()
	delete(s.open, conn)
	s.mutex.Unlock()
}

func (s *Server) drop(conn net.Conn) {
	conn.Close()
	s.forget(conn)
}
