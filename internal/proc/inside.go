package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"adze/internal/proc/shim"
)

// Inside reports whether this process runs in a command that adze started: what a person says on a command line is
// theirs only outside of one. Where /proc is missing, only the variable tells that every command inherits.
func Inside() bool {
	if _, ok := os.LookupEnv(Mark); ok {
		return true
	}
	for pid, n := os.Getppid(), 0; pid > 1 && n < 1000; n++ {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // of another user: it is none of ours
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		words := bytes.Split(args, []byte{0})
		if bytes.HasPrefix(environ, []byte(Mark+"=")) || bytes.Contains(environ, []byte("\x00"+Mark+"=")) ||
			len(words) > 1 && string(words[1]) == shim.Word {
			return true
		}
		pid = parentOf(pid)
	}
	return false
}

// parentOf reads the parent's id, which stands behind the name in parentheses and the state.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1]) // the kernel writes a number
	return parent
}
