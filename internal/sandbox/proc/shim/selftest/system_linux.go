package selftest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	protocolMPTCP  = 262
	familyVsock    = 40
	sysIoUring     = 425
	keyringGet     = 0
	keyringSession = ^uintptr(2) // -3
)

func ofSystem() map[string]func(string) error {
	return map[string]func(string) error{
		"mptcp":    func(port string) error { return stream(port, protocolMPTCP) },
		"abstract": unixSocket,
		"later":    laterSocket,
		"datagram": datagram,
		"pair":     pairedDatagram,
		"signal":   signal,
		"peek":     peek,
		"mount":    func(dir string) error { return syscall.Mount("/", dir, "", syscall.MS_BIND|syscall.MS_REC, "") },
		"unshare":  func(string) error { return raw(syscall.SYS_UNSHARE, syscall.CLONE_NEWUSER) },
		"setns":    setns,
		"ptrace":   func(string) error { return raw(syscall.SYS_PTRACE, syscall.PTRACE_TRACEME) },
		"keyctl":   func(string) error { return raw(syscall.SYS_KEYCTL, keyringGet, keyringSession, 1) },
		"io_uring": ioUring,
		"vsock":    vsock,
		"tiocsti":  tiocsti,
		"open":     openForWriting,
	}
}

func raw(nr uintptr, a ...uintptr) error {
	var args [3]uintptr
	copy(args[:], a)
	if _, _, errno := syscall.RawSyscall(nr, args[0], args[1], args[2]); errno != 0 {
		return errno
	}
	return nil
}

// signal reaches a process of the outside: its id, and the name that it must have to be that one.
func signal(pid string) error {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	return syscall.Kill(n, syscall.SIGUSR1)
}

// peek reads the memory of a process: empty is the one that supervises this one.
func peek(pid string) error {
	if pid == "" {
		pid = strconv.Itoa(os.Getppid())
	}
	f, err := os.Open("/proc/" + pid + "/mem")
	if err != nil {
		return err
	}
	return f.Close()
}

// openForWriting writes nothing: what it is upon belongs to the whole machine.
func openForWriting(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// setns enters the network of another process.
func setns(path string) error {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return raw(sysSetns, uintptr(fd), syscall.CLONE_NEWNET)
}

// Done ends the name of the file that says that the socket of a "later" attempt is there.
const Done = "-done"

// laterSocket connects to a socket that is made outside when a file is, which this makes.
func laterSocket(both string) error {
	ready, socket, _ := strings.Cut(both, ":")
	if err := write(ready, os.O_WRONLY|os.O_CREATE); err != nil {
		return err
	}
	for range laterTries {
		if _, err := os.Lstat(ready + Done); err == nil {
			return unixSocket(socket)
		}
		time.Sleep(time.Millisecond)
	}
	return os.ErrNotExist
}

// laterTries is how often a socket is looked for that is about to be made, a millisecond apart.
const laterTries = 5000

// datagram sends to a path without a connection.
func datagram(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Sendto(fd, []byte("?"), 0, &syscall.SockaddrUnix{Name: path})
}

// pairedDatagram does the same by a socket of a pair. What the other end gets was not sent out.
func pairedDatagram(path string) error {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fds[0])
	defer syscall.Close(fds[1])
	if err := syscall.Sendto(fds[0], []byte("?"), 0, &syscall.SockaddrUnix{Name: path}); err != nil {
		return err
	}
	if n, _ := syscall.Read(fds[1], make([]byte, 1)); n == 1 {
		return os.ErrPermission
	}
	return nil
}

func ioUring(string) error {
	params := make([]byte, 120) // struct io_uring_params
	fd, _, errno := syscall.RawSyscall(sysIoUring, 1, uintptr(unsafe.Pointer(&params[0])), 0)
	if errno != 0 {
		return errno
	}
	return syscall.Close(int(fd))
}

func vsock(string) error {
	fd, err := syscall.Socket(familyVsock, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

// tiocsti types into a terminal; without one the filter must answer before the kernel says that
// there is none.
func tiocsti(string) error {
	c := byte('x')
	_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, 0, syscall.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	if errno == syscall.EPERM {
		return errno
	}
	return nil
}
