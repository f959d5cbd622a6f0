package proc

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"adze/internal/sandbox/proc/shim"
)

// clockTick is the unit of processor time in /proc: 100 per second on every Linux supported by Go.
const clockTick = time.Second / 100

// Processes lists this user's processes by id.
func Processes() ([]Info, error) {
	var list []Info
	for _, pid := range shim.AllPIDs() {
		if info, ok := readInfo(pid); ok {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return a.PID - b.PID })
	return list, nil
}

func readInfo(pid int) (Info, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	st, err := os.Stat(dir)
	if err != nil {
		return Info{}, false
	}
	// Concealed processes belong to root there, including this one.
	if owner, ok := st.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() && pid != os.Getpid() {
		return Info{}, false
	}
	stat, ok := shim.ReadStat(pid)
	if !ok {
		return Info{}, false
	}
	args, _ := os.ReadFile(dir + "/cmdline")
	command := strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))
	if command == "" { // a kernel thread or a zombie
		command = "[" + stat.Name + "]"
	}
	return Info{
		PID: pid, Parent: stat.Parent, State: string(stat.State), Command: command,
		CPU: time.Duration(stat.CPU) * clockTick, Memory: stat.Pages * int64(os.Getpagesize()),
	}, true
}
