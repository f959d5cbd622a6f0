package proc

import (
	"os"
	"strconv"
	"strings"

	"adze/internal/sandbox/proc/shim"
)

// outerPID is the id here of a process below root whose id in its own namespace is inner; 0 when it
// has ended.
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

// outerPID is the id of the command as this process sees it.
func (p *Process) outerPID() int {
	if p.walls.PIDs {
		return outerPID(p.shim.Pid, p.pid)
	}
	return p.pid
}
