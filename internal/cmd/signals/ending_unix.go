//go:build unix

package signals

import (
	"os"
	"syscall"
)

// ending are the signals that are taken like SIGTERM: the default of each ends the process, and
// leaves a terminal raw and calls as they are. SIGSEGV and its like arrive here only when another
// process sends them; a fault of the program itself is a panic.
func ending() []os.Signal {
	return []os.Signal{syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL,
		syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGUSR1, syscall.SIGUSR2}
}
