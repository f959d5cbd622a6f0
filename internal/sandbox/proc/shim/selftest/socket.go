//go:build unix

package selftest

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// tcp connects to a port of this machine.
func tcp(port string) error { return stream(port, 0) }

func stream(port string, protocol int) error {
	at, err := loopback(port)
	if err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, protocol)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Connect(fd, at)
}

// udp sends a packet and waits for the answer: sending alone succeeds where nobody listens.
func udp(port string) error {
	at, err := loopback(port)
	if err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if err := syscall.Connect(fd, at); err != nil {
		return err
	}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 1}); err != nil {
		return err
	}
	if _, err := syscall.Write(fd, []byte("?")); err != nil {
		return err
	}
	_, err = syscall.Read(fd, make([]byte, 1))
	return err
}

// unixSocket connects to a socket by its path, or by its name where it begins with @.
func unixSocket(name string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Connect(fd, &syscall.SockaddrUnix{Name: name})
}

// serve is the other side of unixSocket.
func serve(path string) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		err = firstOf(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 8))
	}
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		return
	}
	os.Stdout.WriteString(Serve + "\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func loopback(port string) (*syscall.SockaddrInet4, error) {
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, errors.New("no port")
	}
	return &syscall.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}, nil
}
