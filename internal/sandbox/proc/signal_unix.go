//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalName returns a signal's usual name, SIGKILL for 9.
func SignalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}
