//go:build unix && !linux && !darwin

package proc

import "golang.org/x/sys/unix"

// Conceal keeps what this process holds out of a core file; these systems have nothing more.
func Conceal() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
