//go:build unix && !linux

package shim

import (
	"os"
	"os/signal"
	"syscall"
)

func adoptOrphans() {}

// deafen drops signals from users and commands. Ignored ones would stay ignored in the command.
func deafen() {
	nobody := make(chan os.Signal, 1)
	signal.Notify(nobody, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
}

func closeOthersOnExec(uintptr) {}

// dropStreams redirects the standard streams to /dev/null.
func dropStreams() {
	null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = syscall.Dup2(null, fd)
	}
}

// members returns the command's process group, as a negative id for kill(2), while it has
// processes.
func members(_, cmd int) []int {
	if syscall.Kill(-cmd, 0) != nil {
		return nil
	}
	return []int{-cmd}
}

// endUnadopted kills the rest of the command's group, no longer below the shim.
func endUnadopted(cmd int) { _ = syscall.Kill(-cmd, syscall.SIGKILL) }
