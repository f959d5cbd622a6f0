//go:build amd64 || arm64

package seccomptrace

import (
	"bytes"
	"strconv"
	"strings"
	"syscall"
)

// mapped reports whether ip is an IPv4 address in IPv6 form.
func mapped(ip []byte) bool {
	return len(ip) == 16 && bytes.Equal(ip[:12], []byte{10: 0xff, 11: 0xff})
}

func ofThisMachine(ip []byte) bool {
	if mapped(ip) {
		ip = ip[12:]
	}
	if len(ip) == 4 {
		return ip[0] == 127 || ip[0] == 0
	}
	return bytes.Equal(ip[:15], make([]byte, 15)) && ip[15] <= 1
}

// served reports whether the command itself serves a port: nobody else can in its network.
func served(ip []byte, port uint16) bool {
	fd, at, err := socketAt(ip, port)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) // ignore closed connections
	return syscall.Bind(fd, at) == syscall.EADDRINUSE
}

// socketAt makes a socket and its bind address.
func socketAt(ip []byte, port uint16) (fd int, at syscall.Sockaddr, err error) {
	family := syscall.AF_INET
	switch {
	case len(ip) == 4:
		at = &syscall.SockaddrInet4{Port: int(port), Addr: [4]byte(ip)}
	case mapped(ip):
		at = &syscall.SockaddrInet4{Port: int(port), Addr: [4]byte(ip[12:])}
	default:
		family, at = syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(port), Addr: [16]byte(ip)}
	}
	fd, err = syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	return fd, at, err
}

// spell formats an address for other programs, uncompressed.
func spell(ip []byte) string {
	var parts []string
	if len(ip) == 4 {
		for _, b := range ip {
			parts = append(parts, strconv.Itoa(int(b)))
		}
		return strings.Join(parts, ".")
	}
	for i := 0; i < len(ip); i += 2 {
		parts = append(parts, strconv.FormatUint(uint64(ip[i])<<8|uint64(ip[i+1]), 16))
	}
	return "[" + strings.Join(parts, ":") + "]"
}
