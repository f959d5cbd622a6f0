//go:build unix && !linux

package shim

import (
	"os"
	"os/signal"
	"syscall"
)

// adoptOrphans has no counterpart outside Linux.
func adoptOrphans() {}

// deafen swallows the signals that a user or a command may send to this process. Ignored ones would
// stay ignored in the command.
func deafen() {
	nobody := make(chan os.Signal, 1)
	signal.Notify(nobody, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
}

// closeOthersOnExec has no portable counterpart.
func closeOthersOnExec(uintptr) {}

// dropStreams points the standard streams at /dev/null.
func dropStreams() {
	null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = syscall.Dup2(null, fd)
	}
}

// members is the command's process group while somebody is in it. A negative id means a group to
// kill(2).
func members(_, cmd int) []int {
	if syscall.Kill(-cmd, 0) != nil {
		return nil
	}
	return []int{-cmd}
}

// endUnadopted kills what the command left in its group, which is not below the shim any more.
func endUnadopted(cmd int) { _ = syscall.Kill(-cmd, syscall.SIGKILL) }
