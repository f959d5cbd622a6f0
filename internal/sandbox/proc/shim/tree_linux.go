package shim

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// Constants missing in package syscall. Importing golang.org/x/sys/unix would move this package's
// init behind most others (see init).
const (
	prSetChildSubreaper = 36
	sysCloseRange       = 436
	closeRangeCloexec   = 4
)

// adoptOrphans makes orphans below this process its children.
func adoptOrphans() {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)
}

// deafen ignores signals from users and commands; only the lifeline ends this process early. It
// bypasses os/signal, which takes a millisecond here. The runtime still considers these signals its
// own and resets them to their default in the command.
func deafen() {
	ignore := [4]uintptr{1} // struct sigaction with SIG_IGN
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&ignore)), 0, 8, 0, 0)
	}
}

// closeOthersOnExec hides descriptors inherited by adze from the command.
func closeOthersOnExec(from uintptr) {
	_, _, _ = syscall.RawSyscall(sysCloseRange, from, uintptr(^uint32(0)), closeRangeCloexec)
}

// dropStreams redirects the standard streams to /dev/null.
func dropStreams() {
	null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = syscall.Dup3(null, fd, syscall.O_CLOEXEC)
	}
}

func members(self, _ int) []int { return Descendants(self) }

// endUnadopted does nothing: orphans are the shim's children here.
func endUnadopted(int) {}

// Descendants returns the ids of all live processes below root, parents before children.
func Descendants(root int) []int {
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		return ScanDescendants(root)
	}
	all := children(root, nil)
	for i := 0; i < len(all); i++ {
		all = children(all[i], all)
	}
	return slices.DeleteFunc(all, func(pid int) bool {
		st, ok := ReadStat(pid)
		return !ok || st.State == 'Z'
	})
}

// children appends the children of all pid's threads.
func children(pid int, to []int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return to
	}
	for _, t := range threads {
		list, err := os.ReadFile(dir + t.Name() + "/children")
		if err != nil {
			continue
		}
		for f := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(f); err == nil {
				to = append(to, child)
			}
		}
	}
	return to
}

// ScanDescendants is Descendants from each process's parent, for kernels that do not list children.
func ScanDescendants(root int) []int {
	kids := make(map[int][]int)
	for _, pid := range AllPIDs() {
		if st, ok := ReadStat(pid); ok && st.State != 'Z' {
			kids[st.Parent] = append(kids[st.Parent], pid)
		}
	}
	all := kids[root]
	for i := 0; i < len(all); i++ {
		all = append(all, kids[all[i]]...)
	}
	return all
}

// AllPIDs returns all visible process ids.
func AllPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Stat holds the fields in /proc/PID/stat for identifying a process (proc_pid_stat(5)).
type Stat struct {
	Name    string
	State   byte
	Parent  int
	Session int
	CPU     uint64 // clock ticks used, in user and kernel mode
	Start   uint64 // clock ticks after boot; with the id it identifies a process
	Pages   int64  // resident
}

// ReadStat reads a process's Stat. It returns false if the process does not exist.
func ReadStat(pid int) (Stat, bool) {
	p, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, false
	}
	// The name may contain blanks and parentheses; the last parenthesis ends it.
	open, end := bytes.IndexByte(p, '('), bytes.LastIndexByte(p, ')')
	if open < 0 || end < open || end+2 > len(p) {
		return Stat{}, false
	}
	f := strings.Fields(string(p[end+1:]))
	if len(f) < 22 {
		return Stat{}, false
	}
	st := Stat{Name: string(p[open+1 : end]), State: f[0][0]}
	st.Parent, _ = strconv.Atoi(f[1])
	st.Session, _ = strconv.Atoi(f[3])
	user, _ := strconv.ParseUint(f[11], 10, 64)
	kernel, _ := strconv.ParseUint(f[12], 10, 64)
	st.CPU = user + kernel
	st.Pages, _ = strconv.ParseInt(f[21], 10, 64)
	st.Start, err = strconv.ParseUint(f[19], 10, 64)
	return st, err == nil
}
