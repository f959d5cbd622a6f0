package proxy

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// SOCKS 5 as RFC 1928 has it: no authentication, the command CONNECT, names and addresses.
const (
	socksVersion = 5
	socksConnect = 1

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksGranted      = 0
	socksFailed       = 1
	socksDenied       = 2 // "connection not allowed by ruleset"
	socksUnreachable  = 4
	socksNoCommand    = 7
	socksNoAddress    = 8
	socksNoAcceptable = 0xFF
)

// errSocks is a client that does not speak the protocol, and was told so where the protocol has
// words for it.
var errSocks = errors.New("not a SOCKS 5 request that is carried")

// serveSocks serves one client from its first byte on.
func (s *Server) serveSocks(client *peeked) {
	host, port, err := greet(client)
	if err != nil {
		return
	}
	to, err := s.target(host, port)
	if err != nil {
		answerSocks(client, socksNoAddress)
		return
	}
	target, err := s.reach(s.ctx, to)
	if err != nil {
		var refused *refusal
		if errors.As(err, &refused) {
			answerSocks(client, socksDenied)
			return
		}
		answerSocks(client, socksUnreachable)
		return
	}
	client.SetReadDeadline(time.Time{})
	if answerSocks(client, socksGranted) != nil {
		s.drop(target)
		return
	}
	s.relay(to, client, target)
}

// greet reads what the client wants, as text that is judged like any other.
func greet(client *peeked) (host, port string, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(client, head); err != nil {
		return "", "", err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(client, methods); err != nil {
		return "", "", err
	}
	if !slices.Contains(methods, 0) {
		client.Write([]byte{socksVersion, socksNoAcceptable})
		return "", "", errSocks
	}
	if _, err := client.Write([]byte{socksVersion, 0}); err != nil {
		return "", "", err
	}
	return readRequest(client)
}

func readRequest(client *peeked) (host, port string, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(client, head); err != nil {
		return "", "", err
	}
	switch {
	case head[0] != socksVersion:
		answerSocks(client, socksFailed)
		return "", "", errSocks
	case head[1] != socksConnect:
		answerSocks(client, socksNoCommand)
		return "", "", errSocks
	}
	size, err := addressSize(client, head[3])
	if err != nil {
		return "", "", err
	}
	rest := make([]byte, size+2)
	if _, err := io.ReadFull(client, rest); err != nil {
		return "", "", err
	}
	host = string(rest[:size])
	if head[3] != socksName {
		a, _ := netip.AddrFromSlice(rest[:size])
		host = a.String()
	}
	return host, strconv.Itoa(int(binary.BigEndian.Uint16(rest[size:]))), nil
}

// addressSize is the number of bytes of the address that follows.
func addressSize(client *peeked, kind byte) (int, error) {
	switch kind {
	case socksIPv4:
		return net.IPv4len, nil
	case socksIPv6:
		return net.IPv6len, nil
	case socksName:
		size, err := client.reader.ReadByte()
		return int(size), err
	}
	answerSocks(client, socksNoAddress)
	return 0, errSocks
}

// answerSocks answers a request. The bound address is never told: nobody needs it.
func answerSocks(client net.Conn, reply byte) error {
	_, err := client.Write([]byte{socksVersion, reply, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
