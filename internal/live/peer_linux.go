package live

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who connected. alive reports that the process has not ended meanwhile, so
// that what was read of its number was its own; done releases it.
func peerOf(c connection) (p Peer, alive func() bool, done func(), err error) {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return p, nil, nil, err
	}
	handle := -1
	var failed error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		if cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); failed != nil {
			return
		}
		p.PID, p.UID = int(cred.Pid), int(cred.Uid)
		if h, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); err == nil {
			handle = h
		} else if p.PID > 0 { // before Linux 6.5
			handle, failed = unix.PidfdOpen(p.PID, 0)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return p, nil, nil, err
	}
	alive = func() bool {
		if handle < 0 {
			return false
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, 0)
		return err == nil && n == 0
	}
	return p, alive, func() {
		if handle >= 0 {
			_ = unix.Close(handle) // nothing was written
		}
	}, nil
}

// noLogin is the number of a process that no login began.
const noLogin = "4294967295"

// loginOf tells the login that a process belongs to: by the kernel, else by the session of the
// user's login manager.
func loginOf(pid int) string {
	if id, err := os.ReadFile(fmt.Sprintf("/proc/%d/sessionid", pid)); err == nil {
		if n := strings.TrimSpace(string(id)); n != noLogin && n != "0" {
			return "login " + n
		}
	}
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // of one that has ended there is none
	for v := range strings.SplitSeq(string(env), "\x00") {
		if id, ok := strings.CutPrefix(v, "XDG_SESSION_ID="); ok && id != "" {
			return "session " + id
		}
	}
	return ""
}
