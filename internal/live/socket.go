package live

import "net"

// connection is a stream between an owner and a client: a socket, or a named pipe on Windows.
type connection interface {
	net.Conn
	// CloseRead stops reading at this end.
	CloseRead() error
}

// listener accepts clients' connections. Accept returns net.ErrClosed after Close.
type listener interface {
	Accept() (connection, error)
	Close() error
}
