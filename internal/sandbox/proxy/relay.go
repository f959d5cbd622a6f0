package proxy

import (
	"io"
	"net"
)

// relay copies bytes in both directions until both sides have ended, and counts them. A
// client that has sent everything may still read until the target ends.
func (s *Server) relay(to Target, client, target net.Conn) {
	defer target.Close()
	sent := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(target, client)
		closeWrite(target)
		sent <- n
	}()
	received, err := io.Copy(client, target)
	if err != nil || closeWrite(client) != nil {
		client.Close() // it failed, so nobody handles further input
	}
	s.carry(to, <-sent, received)
}

// closeWrite signals the end of data to the other side.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}
