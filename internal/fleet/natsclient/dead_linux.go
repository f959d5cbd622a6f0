package natsclient

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// place names the space in which process numbers of this process count: this boot of this kernel
// and its namespace. If empty, unknown.
func place() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// dead reports whether the holder is a process of the same place that has ended.
func (h Holder) dead(here string) bool {
	return here != "" && h.Place == here && h.PID > 0 && errors.Is(unix.Kill(h.PID, 0), unix.ESRCH)
}
