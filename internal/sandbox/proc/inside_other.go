//go:build unix && !linux

package proc

import (
	"fmt"
	"os"
	"strings"

	"adze/internal/sandbox/proc/shim"
)

// Inside explains why this process counts as one that a command of adze started; it returns ""
// where it is none. There is no adoption here: a process whose parents have ended is known by its
// environment alone.
func (l *Ledger) Inside() string {
	if _, ok := os.LookupEnv(Mark); ok {
		return Mark + " is set"
	}
	return l.Below(os.Getppid())
}

// Below explains why another process counts as one that a command of adze started, as Inside does
// for this one.
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
