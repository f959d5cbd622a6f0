package stdio

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// kcmpFile asks whether two descriptors are of one opening (kcmp(2)).
const kcmpFile = 0

// ClosedAtStart reports whether stdout was closed when adze was started, as by >&- in a shell. The
// runtime puts /dev/null, opened for reading and writing, in its place before any code of ours
// runs, and to write an answer there is to lose it in silence.
//
// Shells, and most libraries that start programs, open /dev/null for writing only where it is asked
// for. Some open it for both; what they opened once for several descriptors is told by that, and
// Node by its name. What is left, such as Python's DEVNULL for stdout alone, looks exactly like a
// closed one, and is taken for that: an error is seen, a lost answer is not.
func ClosedAtStart(stdout *os.File) bool {
	flags, err := unix.FcntlInt(stdout.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	if flags&unix.O_ACCMODE != unix.O_RDWR || !isNull(int(stdout.Fd())) {
		return false
	}
	return !shared(int(stdout.Fd())) && !givesNull(os.Getppid())
}

func isNull(fd int) bool {
	to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return err == nil && to == os.DevNull
}

// shared reports whether a descriptor is of one opening with stdin or stderr: the runtime opens
// each anew.
func shared(fd int) bool {
	self := uintptr(os.Getpid())
	for _, other := range []int{0, 2} {
		different, _, failed := unix.Syscall6(unix.SYS_KCMP, self, self, kcmpFile, uintptr(fd), uintptr(other), 0)
		if fd != other && failed == 0 && different == 0 {
			return true
		}
	}
	return false
}

// givesNull reports whether a process is one of the runtimes that open /dev/null for reading and
// writing, for each descriptor of a child anew (libuv's stdio "ignore").
func givesNull(pid int) bool {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	name := strings.TrimSuffix(to[strings.LastIndexByte(to, '/')+1:], " (deleted)")
	return slices.Contains([]string{"node", "nodejs", "bun", "deno", "electron"}, name)
}
