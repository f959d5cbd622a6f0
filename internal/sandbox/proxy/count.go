package proxy

import (
	"net"
	"sync/atomic"
)

type counter struct {
	net.Conn
	sent, received atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}
