//go:build unix

package sessiondb

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Running reports whether a process is there and has not ended. One that nobody has waited for yet
// has ended.
func Running(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no /proc, or it ended just now: the next look tells
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
