//go:build amd64 || arm64

package seccomptrace

import (
	"strconv"
	"syscall"
)

// Other commands and the user reach the command's ports through the outside process. It is notified
// about each port, and gets connections made here, in the command's network.

// connectTime limits such a connection, in seconds: a server may be busy.
const connectTime = 5

// serves performs listen(2) on an internet socket, so that the port is known, and reports it.
func (w *Listener) serves(n *notice, fd int) (reply, bool) {
	if w.asks <= 0 {
		return reply{}, false
	}
	if err := syscall.Listen(fd, int(int32(n.args[1]))); err != nil {
		return reply{id: n.id, errno: -int32(errnoOf(err))}, true
	}
	port := 0
	switch at, _ := syscall.Getsockname(fd); at := at.(type) {
	case *syscall.SockaddrInet4:
		port = at.Port
	case *syscall.SockaddrInet6:
		port = at.Port
	}
	if port == 0 || !w.dials() {
		return reply{id: n.id}, true
	}
	_ = syscall.Sendmsg(w.asks, []byte("listen:"+strconv.Itoa(port)), nil, nil, syscall.MSG_NOSIGNAL)
	return reply{id: n.id}, true
}

// dials starts making connections for the outside process, once.
func (w *Listener) dials() bool {
	if w.dialled {
		return true
	}
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	err = syscall.Sendmsg(w.asks, []byte("dial:"), syscall.UnixRights(ends[1]), nil, syscall.MSG_NOSIGNAL)
	_ = syscall.Close(ends[1])
	if err != nil {
		_ = syscall.Close(ends[0])
		return false
	}
	w.dialled = true
	go func() {
		defer syscall.Close(ends[0])
		for {
			var asked [2]byte
			size, err := syscall.Read(ends[0], asked[:])
			if err == syscall.EINTR {
				continue
			}
			if err != nil || size != len(asked) {
				return
			}
			var rights []byte
			fd := connectTo(int(asked[0])<<8 | int(asked[1]))
			if fd >= 0 {
				rights = syscall.UnixRights(fd)
			}
			err = syscall.Sendmsg(ends[0], asked[:], rights, nil, syscall.MSG_NOSIGNAL)
			if fd >= 0 {
				_ = syscall.Close(fd)
			}
			if err != nil {
				return
			}
		}
	}()
	return true
}

// connectTo connects to a port in this network, or returns -1.
func connectTo(port int) int {
	for _, at := range []syscall.Sockaddr{&syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}, &syscall.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}} {
		family := syscall.AF_INET
		if _, six := at.(*syscall.SockaddrInet6); six {
			family = syscall.AF_INET6
		}
		fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			continue
		}
		_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &syscall.Timeval{Sec: connectTime})
		if syscall.Connect(fd, at) == nil {
			_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &syscall.Timeval{})
			return fd
		}
		_ = syscall.Close(fd)
	}
	return -1
}
