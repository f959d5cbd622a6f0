package wire

import (
	"context"
	"io"
	"net"
)

// copyBytes is the buffer of net/http, which makes a new one for the body of each request.
const copyBytes = 32 << 10

// bufferedConn is a connection that keeps the buffer through which bodies are written. net/http
// writes to a connection from one goroutine.
type bufferedConn struct {
	net.Conn
	buffer []byte
}

// direct opens a connection for requests without TLS.
func (d *dialer) direct(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.plain(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &bufferedConn{Conn: conn}, nil
}

// ReadFrom implements io.ReaderFrom. A body that is in memory is written from where it is, in one
// system call; net/http reads it up to its length.
func (c *bufferedConn) ReadFrom(body io.Reader) (int64, error) {
	if limited, ok := body.(*io.LimitedReader); ok {
		if r, ok := limited.R.(*bodyReader); ok && limited.N >= r.left() {
			pieces := net.Buffers(r.rest())
			n, err := pieces.WriteTo(c.Conn)
			limited.N -= n
			return n, err
		}
	}
	return c.copy(body)
}

// copy is for a body that is elsewhere: what a TCP connection has for that hands a file to the
// kernel.
func (c *bufferedConn) copy(body io.Reader) (int64, error) {
	if c.buffer == nil {
		c.buffer = make([]byte, copyBytes)
	}
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{body}, c.buffer)
}
