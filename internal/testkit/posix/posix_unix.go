//go:build unix

// Package posix is for tests what only some systems have. Elsewhere a test that asks for it is
// skipped.
//
// The one rule: no program links it. Start reading at Fifo.
package posix

import (
	"os/exec"
	"syscall"
	"testing"
)

// Fifo makes a FIFO.
func Fifo(_ testing.TB, path string) error { return syscall.Mkfifo(path, 0o600) }

// Alive reports that a process is there.
func Alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Kill ends a process at once.
func Kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// Stop has a process stand still until Cont.
func Stop(_ testing.TB, pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Cont has a process go on.
func Cont(_ testing.TB, pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }

// Group has a program stand in a process group of its own, which ends with its context.
func Group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Cancel != nil {
		c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	}
}

// Signal sends a signal to a process.
func Signal(pid int, s syscall.Signal) error { return syscall.Kill(pid, s) }
