package live

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who connected. alive reports that the process has not ended meanwhile.
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

// loginOf cannot tell one login from another here.
func loginOf(int) string { return "" }
