//go:build unix

package natstest

import "syscall"

// apart has a program stand in a process group of its own.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
func stop(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }
func cont(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
