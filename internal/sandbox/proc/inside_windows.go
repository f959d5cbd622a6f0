package proc

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

// Inside returns why this process counts as started by one of adze's commands, or "": Mark is in
// its environment, or it is in the job of a call recorded in this ledger, which its processes
// cannot leave. It misses processes started by others for a command, such as a scheduled task.
func (l *Ledger) Inside() string {
	if _, ok := os.LookupEnv(Mark); ok {
		return Mark + " is set"
	}
	return l.Below(os.Getpid())
}

// Below is Inside for another process.
func (l *Ledger) Below(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return fmt.Sprintf("nobody can look at process %d: %v", pid, err)
	}
	defer windows.CloseHandle(h)
	switch job, err := l.holder(h); {
	case job != "":
		return "it is in the job " + strings.TrimPrefix(job, jobPrefix) + " of a call"
	case err != nil:
		return "the jobs of calls cannot be read: " + err.Error()
	}
	return ""
}
