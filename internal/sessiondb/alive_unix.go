//go:build unix

package sessiondb

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Running reports whether a process exists and has not ended. A zombie has ended.
func Running(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no /proc, or it has just ended; the next check will tell
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
