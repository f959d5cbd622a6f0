package proc

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc/shim"
)

// awaitingKeys is the program below a shim that waits for keys of a terminal, or "". A command has
// no terminal, and its standard input is empty, so such a program reads from where it writes to: it
// has made its standard error its standard input, as vim does. Nothing can ever come from there.
func awaitingKeys(root int) (pid int, program string) {
	for _, pid := range shim.Descendants(root) {
		fd := "/proc/" + strconv.Itoa(pid) + "/fd/"
		input, err := os.Readlink(fd + "0")
		if err != nil || !strings.HasPrefix(input, "pipe:") {
			continue
		}
		if output, err := os.Readlink(fd + "2"); err != nil || output != input || !writesOnly(pid) {
			continue
		}
		if st, ok := shim.ReadStat(pid); ok && st.State == 'S' && readsInput(pid) {
			return pid, st.Name
		}
	}
	return 0, ""
}

// writesOnly reports whether the standard input of a process can only be written (proc(5), fdinfo).
func writesOnly(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/fdinfo/0")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(raw), "flags:")
	line, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseInt(strings.TrimSpace(line), 8, 64)
	return err == nil && flags&int64(os.O_WRONLY|os.O_RDWR) == int64(os.O_WRONLY)
}

// readsInput reports whether a process waits in the kernel for its standard input alone: in read,
// or in pselect6 of one descriptor (proc(5), syscall).
func readsInput(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return false
	}
	switch fields[0] {
	case strconv.Itoa(unix.SYS_READ):
		return fields[1] == "0x0"
	case strconv.Itoa(unix.SYS_PSELECT6):
		return fields[1] == "0x1"
	}
	return false
}
