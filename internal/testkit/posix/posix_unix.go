//go:build unix

// Package posix gives tests features that only some systems have. Elsewhere it skips the test.
//
// The one rule: no program imports it. Start reading at Fifo.
package posix

import (
	"os/exec"
	"syscall"
	"testing"
)

// Fifo makes a FIFO.
func Fifo(_ testing.TB, path string) error { return syscall.Mkfifo(path, 0o600) }

// Alive reports whether a process exists.
func Alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Kill kills a process.
func Kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// Stop suspends a process until Cont.
func Stop(_ testing.TB, pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Cont resumes a process.
func Cont(_ testing.TB, pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }

// Group runs a program in its own process group, which ends with its context.
func Group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Cancel != nil {
		c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	}
}

// Signal sends a signal to a process.
func Signal(pid int, s syscall.Signal) error { return syscall.Kill(pid, s) }
