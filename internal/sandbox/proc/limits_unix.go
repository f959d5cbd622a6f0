//go:build unix

package proc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The least that a session and one command need, with some reserve.
const (
	leastFiles     = 64
	leastProcesses = 32
)

// CheckLimits returns a LimitError if no command could be started. Go has already raised the soft
// limit of open files to the hard one.
func CheckLimits() error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && uint64(limit.Cur) < leastFiles {
		return &LimitError{fmt.Sprintf("this process may have %d files open, and needs %d to run commands", limit.Cur, leastFiles),
			"raise the limit: ulimit -n 1024"}
	}
	// The limit does not apply to root.
	if os.Geteuid() != 0 && unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil && uint64(limit.Cur) < leastProcesses {
		return &LimitError{fmt.Sprintf("this user may have %d processes and threads, and needs %d to run commands", limit.Cur, leastProcesses),
			"raise the limit: ulimit -u 1024"}
	}
	return nil
}
