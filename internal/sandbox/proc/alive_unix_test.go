//go:build unix

package proc_test

import "syscall"

// alive reports whether one of this user's processes exists.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
