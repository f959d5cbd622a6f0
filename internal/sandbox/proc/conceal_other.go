//go:build unix && !linux && !darwin

package proc

import "golang.org/x/sys/unix"

// Conceal disables core files; these systems offer nothing more.
func Conceal() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
