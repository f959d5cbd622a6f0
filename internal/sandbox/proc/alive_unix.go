//go:build unix

package proc

import "syscall"

// Alive reports that a process of this user is there.
func Alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
