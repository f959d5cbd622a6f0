package signals

import (
	"os"
	"syscall"
)

// ending lists the signals treated like SIGTERM. The Go runtime turns the end of a console, session
// or system into SIGTERM, and Windows then waits some seconds for the process. Ctrl-C and
// Ctrl-Break are os.Interrupt.
func ending() []os.Signal { return []os.Signal{syscall.SIGTERM} }
