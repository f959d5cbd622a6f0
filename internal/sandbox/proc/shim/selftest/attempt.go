//go:build unix

package selftest

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Main runs the attempts and reports whether the arguments asked for any. An attempt is a name,
// "=", and its object.
func Main(args []string) (exit int, ours bool) {
	if len(args) < 2 || args[1] != Word {
		return 0, false
	}
	for _, a := range args[2:] {
		name, upon, _ := strings.Cut(a, "=")
		if name == Fail {
			exit = 1
			continue
		}
		do, ok := attempts()[name]
		if !ok {
			os.Stdout.WriteString("unknown " + name + "\n")
			exit = 2
			continue
		}
		if err := do(upon); err != nil {
			os.Stdout.WriteString("held " + name + " " + err.Error() + "\n")
		} else {
			os.Stdout.WriteString("escaped " + name + "\n")
			exit = 1
		}
	}
	return exit, true
}

// attempts returns functions by name; nil means success.
func attempts() map[string]func(string) error {
	return map[string]func(string) error{
		"write":  func(path string) error { return write(path, os.O_WRONLY|os.O_APPEND) },
		"create": func(path string) error { return write(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL) },
		"read":   read,
		"tcp":    tcp,
		"udp":    udp,
		"unix":   unixSocket,
		"signal": signal,
		"open":   func(path string) error { return write(path, os.O_WRONLY) },
	}
}

// write opens a file and appends to it. Without O_APPEND it only opens: such objects belong to the
// whole machine.
func write(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	if flags&os.O_APPEND != 0 {
		_, err = f.WriteString("written by an attempt\n")
	}
	return errors.Join(err, f.Close())
}

// read counts an existing but empty file as refused.
func read(path string) error {
	data, err := os.ReadFile(path)
	if err == nil && len(data) == 0 {
		return os.ErrNotExist
	}
	return err
}

// tcp connects to a local port.
func tcp(port string) error {
	at, err := loopback(port)
	if err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Connect(fd, at)
}

// udp sends a packet and waits for the response: sending alone succeeds without a server.
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

// unixSocket connects to a socket by its path, or on Linux by an abstract name after @.
func unixSocket(name string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Connect(fd, &syscall.SockaddrUnix{Name: name})
}

// signal reaches a process outside.
func signal(pid string) error {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	return syscall.Kill(n, syscall.SIGUSR1)
}

func loopback(port string) (*syscall.SockaddrInet4, error) {
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, errors.New("no port")
	}
	return &syscall.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}, nil
}
