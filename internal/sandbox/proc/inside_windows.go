package proc

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Inside returns why this process counts as started by one of adze's commands, or "". It detects
// processes with a changed environment or dead parents by:
//
//   - Mark in the environment of this process or an ancestor
//   - the job of a call recorded in this ledger, which its processes cannot leave
//
// It misses processes started by others for a command, such as a scheduled task.
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
	for _, above := range lineage(uint32(pid)) {
		if slices.ContainsFunc(environ(above), func(kv string) bool { return strings.HasPrefix(kv, Mark+"=") }) {
			return fmt.Sprintf("process %d above it belongs to a call", above)
		}
	}
	return ""
}

const maxLineage = 1000

// lineage lists a process and its running ancestors. A parent younger than its child only reuses
// the real parent's id.
func lineage(pid uint32) (line []uint32) {
	child := time.Now()
	for len(line) < maxLineage {
		parent, began, err := parentOf(pid)
		if err != nil || began.After(child) {
			break
		}
		line, pid, child = append(line, pid), parent, began
	}
	return line
}

// parentOf returns a process's parent id and its own start time.
func parentOf(pid uint32) (parent uint32, began time.Time, err error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return 0, began, err
	}
	defer windows.CloseHandle(h)
	info, err := basicInformation(h)
	if err != nil {
		return 0, began, err
	}
	var start, end, kernel, user windows.Filetime
	err = windows.GetProcessTimes(h, &start, &end, &kernel, &user)
	return uint32(info.InheritedFromUniqueProcessId), time.Unix(0, start.Nanoseconds()), err
}

func basicInformation(process windows.Handle) (info windows.PROCESS_BASIC_INFORMATION, err error) {
	err = windows.NtQueryInformationProcess(process, windows.ProcessBasicInformation, unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil)
	return info, err
}

// in bytes
const maxEnviron = 1 << 20

// environ returns the environment of the user's process, or nil if it cannot be read.
func environ(pid uint32) []string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, pid)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(h)
	info, err := basicInformation(h)
	if err != nil {
		return nil
	}
	var block windows.PEB
	var about windows.RTL_USER_PROCESS_PARAMETERS
	if !peek(h, uintptr(unsafe.Pointer(info.PebBaseAddress)), unsafe.Pointer(&block), unsafe.Sizeof(block)) ||
		!peek(h, uintptr(unsafe.Pointer(block.ProcessParameters)), unsafe.Pointer(&about), unsafe.Sizeof(about)) {
		return nil
	}
	text := make([]uint16, min(about.EnvironmentSize, maxEnviron)/2)
	if len(text) == 0 || !peek(h, uintptr(about.Environment), unsafe.Pointer(&text[0]), uintptr(2*len(text))) {
		return nil
	}
	return strings.Split(string(utf16.Decode(text)), "\x00")
}

func peek(process windows.Handle, from uintptr, to unsafe.Pointer, size uintptr) bool {
	var n uintptr
	return windows.ReadProcessMemory(process, from, (*byte)(to), size, &n) == nil && n == size
}
