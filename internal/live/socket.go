package live

import "net"

// connection is a stream between an owner and a client: a socket, or a named pipe on Windows.
type connection interface {
	net.Conn
	// CloseRead ends reading, at this end alone.
	CloseRead() error
}

// listener takes the connections of clients. Accept returns net.ErrClosed after Close.
type listener interface {
	Accept() (connection, error)
	Close() error
}
