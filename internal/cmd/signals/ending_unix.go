//go:build unix

package signals

import (
	"os"
	"syscall"
)

// ending lists the signals treated like SIGTERM: by default each would end the process, leaving a
// raw terminal and running calls. SIGSEGV and similar arrive here only from other processes; a
// fault in the program is a panic.
func ending() []os.Signal {
	return []os.Signal{syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL,
		syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGUSR1, syscall.SIGUSR2}
}
