package proxy

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Serve takes connections from a listener, until it or the server is closed, and closes it. It
// returns nil when it was ended by [Server.Close].
func (s *Server) Serve(l net.Listener) error {
	if !s.begin() {
		l.Close()
		return nil
	}
	defer s.running.Done()
	stop := context.AfterFunc(s.ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	for {
		select { // the slot before the connection: what cannot be carried waits in the kernel's queue
		case s.slots <- struct{}{}:
		case <-s.ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if err != nil {
			<-s.slots
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		if !s.begin() {
			conn.Close()
			return nil
		}
		go s.take(conn)
	}
}

// begin counts something that runs, unless the server is closed.
func (s *Server) begin() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return false
	}
	s.running.Add(1)
	return true
}

// take serves one client by what its first byte says: 5 is SOCKS, all else is HTTP.
func (s *Server) take(raw net.Conn) {
	defer s.running.Done()
	defer func() { <-s.slots }()
	if !s.hold(raw) {
		return
	}
	defer s.drop(raw)
	conn := &peeked{Conn: raw, reader: bufio.NewReaderSize(raw, 4<<10)}
	raw.SetReadDeadline(time.Now().Add(headTime))
	first, err := conn.reader.Peek(1)
	if err != nil {
		return
	}
	if first[0] == socksVersion {
		s.serveSocks(conn)
		return
	}
	conn.done = make(chan struct{})
	if s.handed.give(conn) {
		<-conn.done // the web server has it until it closes it
	}
}

// hold remembers a connection so that Close ends it.
func (s *Server) hold(conn net.Conn) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		conn.Close()
		return false
	}
	s.open[conn] = true
	return true
}

func (s *Server) drop(conn net.Conn) {
	conn.Close()
	s.mutex.Lock()
	delete(s.open, conn)
	s.mutex.Unlock()
}

// peeked is a connection of which some bytes were read ahead.
type peeked struct {
	net.Conn
	reader *bufio.Reader
	done   chan struct{} // closed with the connection, when another serves it
	once   sync.Once
}

func (p *peeked) Read(b []byte) (int, error) { return p.reader.Read(b) }

func (p *peeked) CloseWrite() error { return closeWrite(p.Conn) }

func (p *peeked) Close() error {
	err := p.Conn.Close()
	if p.done != nil {
		p.once.Do(func() { close(p.done) })
	}
	return err
}

// handed is the listener of the web server: the connections that speak HTTP.
type handed struct {
	ctx   context.Context
	conns chan net.Conn
}

func newHanded(ctx context.Context) *handed { return &handed{ctx, make(chan net.Conn)} }

// give hands a connection over and reports whether somebody took it.
func (h *handed) give(conn net.Conn) bool {
	select {
	case h.conns <- conn:
		return true
	case <-h.ctx.Done():
		return false
	}
}

func (h *handed) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (h *handed) Close() error   { return nil }
func (h *handed) Addr() net.Addr { return &net.TCPAddr{} }
