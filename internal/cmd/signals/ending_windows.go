package signals

import (
	"os"
	"syscall"
)

// ending are the signals that are taken like SIGTERM. The Go runtime makes SIGTERM of the end of a
// console, of a session and of the system, and waits for the end of the process then, as long as
// Windows lets it: some seconds. Ctrl-C and Ctrl-Break are os.Interrupt.
func ending() []os.Signal { return []os.Signal{syscall.SIGTERM} }
