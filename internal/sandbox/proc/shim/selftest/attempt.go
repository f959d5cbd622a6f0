//go:build unix

// Package selftest tries what a sandbox must not let happen, from inside it.
//
// A self-test starts this very program in a sandbox, with Word as first argument and attempts after
// it. It does each, and writes a line that says whether it was refused. It is a part of the shim
// because the shim takes the process over before anything else does; no other program may be there
// to try with.
//
// The one rule: an attempt that succeeds says so, and what was tried upon is made for the test.
//
// Start reading at Main. Rules of this package: those of package shim.
//
// Known limits: on systems other than Linux it knows only the attempts upon files and addresses.
package selftest

import (
	"errors"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Word is the hidden first argument that makes this binary try.
const Word = "__attempt"

// Result is one line of the answer.
type Result struct {
	Name   string
	Held   bool
	Detail string // the error that refused it
}

// Fail is an attempt that ends the program with exit code 1 whatever the others did.
const Fail = "fail"

// Main does the attempts and reports whether the arguments asked for any. An attempt is a name,
// "=", and what it is upon.
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

// ParseResult reads a line of the answer.
func ParseResult(line string) (Result, bool) {
	verdict, rest, _ := strings.Cut(line, " ")
	name, detail, _ := strings.Cut(rest, " ")
	return Result{Name: name, Held: verdict == "held", Detail: detail}, name != "" && (verdict == "held" || verdict == "escaped")
}

// attempts are by name; nil means that it succeeded.
func attempts() map[string]func(string) error {
	all := map[string]func(string) error{
		"write":  func(path string) error { return write(path, os.O_WRONLY|os.O_APPEND) },
		"create": func(path string) error { return write(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL) },
		"read":   read,
		"chmod":  func(path string) error { return os.Chmod(path, 0o777) },
		"mkdir":  func(path string) error { return os.Mkdir(path, 0o755) },
		"rename": rename,
		"link":   link,
		"tcp":    tcp,
		"udp":    udp,
		"unix":   unixSocket,
	}
	maps.Copy(all, ofSystem())
	return all
}

func write(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("written by an attempt\n")
	return errors.Join(err, f.Close())
}

// read counts a file that is there and empty as refused.
func read(path string) error {
	data, err := os.ReadFile(path)
	if err == nil && len(data) == 0 {
		return os.ErrNotExist
	}
	return err
}

// rename moves a folder away, so that another can take its place.
func rename(path string) error { return os.Rename(path, path+"-away") }

// link gives a file outside a name inside, and writes through that.
func link(both string) error {
	from, to, _ := strings.Cut(both, ":")
	if err := os.Link(from, to); err != nil {
		return err
	}
	return write(to, os.O_WRONLY|os.O_APPEND)
}

// tcp connects to a port of this machine.
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

func loopback(port string) (*syscall.SockaddrInet4, error) {
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, errors.New("no port")
	}
	return &syscall.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}, nil
}
