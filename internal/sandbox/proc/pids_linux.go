package proc

import (
	"os"
	"strconv"
	"strings"

	"adze/internal/sandbox/proc/shim"
)

// outerPID returns the id in this namespace of the process below root with the given inner id, or 0
// if it has ended.
func outerPID(root, inner int) int {
	for _, pid := range shim.Descendants(root) {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(status), "\nNSpid:")
		line, _, _ := strings.Cut(rest, "\n")
		if ids := strings.Fields(line); len(ids) > 1 && ids[len(ids)-1] == strconv.Itoa(inner) {
			return pid
		}
	}
	return 0
}

func (p *Process) outerPID() int {
	if p.confinement.PIDs {
		return outerPID(p.shim.Pid, p.pid)
	}
	return p.pid
}
