package proxy

import (
	"io"
	"net"
)

// relay carries bytes both ways until both sides have ended, and records the visit. It closes
// neither side's reading early: a client that has sent all may still read for as long as the target
// writes.
func (s *Server) relay(to Target, client, target net.Conn) {
	defer s.drop(target)
	sent := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(target, client)
		closeWrite(target)
		sent <- n
	}()
	received, err := io.Copy(client, target)
	if err != nil || closeWrite(client) != nil {
		client.Close() // it broke rather than ended: nobody answers what the client may still say
	}
	s.record(Visit{Target: to, Sent: <-sent, Received: received})
}

// closeWrite tells the other side that no more comes.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}
