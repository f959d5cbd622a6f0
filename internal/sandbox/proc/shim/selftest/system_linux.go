package selftest

import (
	"os"
	"strconv"
	"syscall"
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
