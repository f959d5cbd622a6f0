package sandbox

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// socketPair returns two connected sockets; far is for another process.
func socketPair(kind int, name string) (near *net.UnixConn, far *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	own, far := os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name+" of the other")
	defer own.Close()
	conn, err := net.FileConn(own)
	if err != nil {
		return nil, nil, errors.Join(err, far.Close())
	}
	return conn.(*net.UnixConn), far, nil
}

// receive reads a message with at most two descriptors (unix(7), SCM_RIGHTS).
func receive(conn *net.UnixConn, text []byte) (n int, files []*os.File, whole bool, err error) {
	space := make([]byte, unix.CmsgSpace(8))
	n, rights, flags, _, err := conn.ReadMsgUnix(text, space)
	if err != nil {
		return 0, nil, false, err
	}
	messages, _ := unix.ParseSocketControlMessage(space[:rights])
	for i := range messages {
		fds, _ := unix.ParseUnixRights(&messages[i])
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "of a shim"))
		}
	}
	return n, files, flags&unix.MSG_TRUNC == 0, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// socketPairOfDoor makes the sockets over which the shim passes its listener out.
func socketPairOfDoor() (near *net.UnixConn, far *os.File, err error) {
	return socketPair(unix.SOCK_STREAM, "door")
}

// listenerFrom receives one descriptor and listens on it.
func listenerFrom(conn *net.UnixConn) (net.Listener, error) {
	_, files, _, err := receive(conn, make([]byte, 1))
	defer closeAll(files)
	if err != nil || len(files) != 1 {
		return nil, errors.Join(errors.New("the shim sent no listener"), err)
	}
	return net.FileListener(files[0])
}
