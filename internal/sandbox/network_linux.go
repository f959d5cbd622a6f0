package sandbox

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// socketPair makes two connected sockets; the far one is the shim's.
func socketPair() (near net.Conn, far *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	own, far := os.NewFile(uintptr(fds[0]), "door"), os.NewFile(uintptr(fds[1]), "door of the shim")
	defer own.Close()
	if near, err = net.FileConn(own); err != nil {
		return nil, nil, errors.Join(err, far.Close())
	}
	return near, far, nil
}

// listenerFrom reads one descriptor and listens on it (unix(7), SCM_RIGHTS).
func listenerFrom(conn net.Conn) (net.Listener, error) {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.New("the door is not a socket of this machine")
	}
	space := make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := unix.ReadMsgUnix(make([]byte, 1), space)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(space[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("the shim sent no listener")
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("the shim sent no listener")
	}
	syscall.CloseOnExec(fds[0])
	file := os.NewFile(uintptr(fds[0]), "listener of a command")
	defer file.Close()
	return net.FileListener(file)
}
