package live

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// peerOf gets the peer from the kernel. alive reports whether the process still runs.
func peerOf(c connection) (p Peer, alive func() bool, done func(), err error) {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return p, nil, nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed != nil {
			return
		}
		p.UID = int(cred.Uid)
		p.PID, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err == nil {
		err = failed
	}
	return p, func() bool { return unix.Kill(p.PID, 0) == nil }, func() {}, err
}

// loginOf cannot distinguish logins here.
func loginOf(int) string { return "" }
