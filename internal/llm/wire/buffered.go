package wire

import (
	"context"
	"io"
	"net"
)

// copyBytes is the buffer of net/http, which makes a new one for the body of each request.
const copyBytes = 32 << 10

// bufferedConn is a connection that keeps the buffer through which bodies are written. net/http writes to a connection
// from one goroutine.
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

// ReadFrom implements io.ReaderFrom: that of a TCP connection, which hands a file to the kernel, is of no use to a body
// that is in memory.
func (c *bufferedConn) ReadFrom(body io.Reader) (int64, error) {
	if c.buffer == nil {
		c.buffer = make([]byte, copyBytes)
	}
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{body}, c.buffer)
}
