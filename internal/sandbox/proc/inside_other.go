//go:build unix && !linux

package proc

import (
	"fmt"
	"os"
	"strings"

	"adze/internal/sandbox/proc/shim"
)

// Inside returns why this process counts as started by one of adze's commands, or "". There is no
// adoption here: after its parents' end only the environment tells.
func (l *Ledger) Inside() string {
	if _, ok := os.LookupEnv(Mark); ok {
		return Mark + " is set"
	}
	return l.Below(os.Getppid())
}

// Below is Inside for another process.
func (l *Ledger) Below(pid int) string {
	list, _ := Processes()
	byID := make(map[int]Info, len(list))
	for _, p := range list {
		byID[p.PID] = p
	}
	for p, ok := byID[pid]; ok && p.PID > 1; p, ok = byID[p.Parent] {
		if words := strings.Fields(p.Command); len(words) > 1 && words[1] == shim.Word {
			return fmt.Sprintf("process %d above it supervises a call", p.PID)
		}
		delete(byID, p.PID)
	}
	return ""
}

func adoptOrphans() {}
