//go:build unix

package proc

import "syscall"

// Alive reports whether one of this user's processes exists.
func Alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
