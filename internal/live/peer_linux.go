package live

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerOf gets the peer from the kernel. alive reports whether the process still runs, so data read
// by its number is its own; done releases it.
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

// noLogin is the audit session ID of a process outside any login.
const noLogin = "4294967295"

// loginOf identifies a process's login: by the kernel, else by the login manager's session.
func loginOf(pid int) string {
	if id, err := os.ReadFile(fmt.Sprintf("/proc/%d/sessionid", pid)); err == nil {
		if n := strings.TrimSpace(string(id)); n != noLogin && n != "0" {
			return "login " + n
		}
	}
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // missing if it has ended
	for v := range strings.SplitSeq(string(env), "\x00") {
		if id, ok := strings.CutPrefix(v, "XDG_SESSION_ID="); ok && id != "" {
			return "session " + id
		}
	}
	return ""
}
