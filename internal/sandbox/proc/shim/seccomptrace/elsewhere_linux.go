//go:build amd64 || arm64

package seccomptrace

import (
	"strconv"
	"syscall"
)

// Other programs' ports and sockets are outside the command's network, and possibly its tree. A
// process outside is asked about each connection to one. It opens a socket by passing its inode's
// descriptor, and a port by serving a listener in this network, sent with the question. So the
// command keeps its own socket.

// Responses to a question.
const (
	// Leads means yes.
	Leads = 'y'
	// Refuses means no; the responder has reported it.
	Refuses = 'n'
	// Unserved means that nothing is there.
	Unserved = '-'
)

// foreign returns the question about an internet connection: "tcp:" with an address and port of
// this machine that the command does not serve itself. It returns "" for others.
func (w *Listener) foreign(fd int, address []byte) string {
	ip, port := addressOf(address)
	if w.asks <= 0 || port == 0 || !ofThisMachine(ip) || served(ip, port) {
		return ""
	}
	if kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil || kind != syscall.SOCK_STREAM {
		return ""
	}
	return "tcp:" + spell(ip) + ":" + strconv.Itoa(int(port))
}

// addressOf parses an internet address. Port 0 means none.
func addressOf(raw []byte) (ip []byte, port uint16) {
	if len(raw) < 8 {
		return nil, 0
	}
	port = uint16(raw[2])<<8 | uint16(raw[3])
	switch family := uint16(raw[0]) | uint16(raw[1])<<8; {
	case family == syscall.AF_INET:
		return raw[4:8], port
	case family == syscall.AF_INET6 && len(raw) >= 24:
		return raw[8:24], port
	}
	return nil, 0
}

// elsewhere asks about a connection and redirects its address. If nothing is there, an internet
// address stays unchanged.
func (w *Listener) elsewhere(c *connection) syscall.Errno {
	if c.refusal != 0 {
		if answer, fd := w.ask(c.outsideQuestion); answer == Leads && fd >= 0 {
			c.leadTo(fd)
			return 0
		}
		return c.refusal
	}
	ip, _ := addressOf(c.address)
	listener, port, err := listenAt(ip)
	if err != nil {
		return 0
	}
	defer syscall.Close(listener)
	switch answer, _ := w.ask(c.outsideQuestion, listener); answer {
	case Leads:
		c.address[2], c.address[3] = byte(port>>8), byte(port)
	case Unserved:
	default:
		return syscall.ECONNREFUSED
	}
	return 0
}

// listenAt listens for one connection at an address in this network, on a port chosen by the
// kernel.
func listenAt(ip []byte) (fd int, port uint16, err error) {
	fd, at, err := socketAt(ip, 0)
	if err != nil {
		return -1, 0, err
	}
	if err = syscall.Bind(fd, at); err == nil {
		err = syscall.Listen(fd, 1)
	}
	if err == nil {
		at, err = syscall.Getsockname(fd)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return -1, 0, err
	}
	switch at := at.(type) {
	case *syscall.SockaddrInet4:
		port = uint16(at.Port)
	case *syscall.SockaddrInet6:
		port = uint16(at.Port)
	}
	return fd, port, nil
}

// ask sends a question with a response socket and further descriptors. The response may include a
// descriptor, else fd is -1. Without a response the result is Unserved.
func (w *Listener) ask(about string, with ...int) (answer byte, fd int) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return Unserved, -1
	}
	defer syscall.Close(ends[0])
	err = syscall.Sendmsg(w.asks, []byte(about), syscall.UnixRights(append([]int{ends[1]}, with...)...), nil, syscall.MSG_NOSIGNAL)
	_ = syscall.Close(ends[1])
	if err != nil {
		return Unserved, -1
	}
	said, space := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	for {
		size, rights, _, _, err := syscall.Recvmsg(ends[0], said, space, syscall.MSG_CMSG_CLOEXEC)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || size != 1 {
			return Unserved, -1
		}
		if messages, err := syscall.ParseSocketControlMessage(space[:rights]); err == nil && len(messages) == 1 {
			if fds, err := syscall.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
				return said[0], fds[0]
			}
		}
		return said[0], -1
	}
}
