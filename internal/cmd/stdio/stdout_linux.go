package stdio

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// kcmpFile makes kcmp(2) compare open file descriptions.
const kcmpFile = 0

// ClosedAtStart reports whether stdout was closed when adze started, as by >&- in a shell. The
// runtime then opens /dev/null for reading and writing in its place, and an answer written there
// would be lost silently.
//
// Shells and most libraries open /dev/null only for writing. Some open it for both: a description
// shared by several descriptors reveals those, and Node is recognized by its name. Others, such as
// Python's DEVNULL for stdout alone, look exactly like a closed stdout and count as one: an error
// is visible, a lost answer is not.
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

// shared reports whether a descriptor shares its description with stdin or stderr. The runtime
// opens each separately.
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

// givesNull reports whether a process is a runtime that opens /dev/null for reading and writing,
// separately for each descriptor of a child (libuv's stdio "ignore").
func givesNull(pid int) bool {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	name := strings.TrimSuffix(to[strings.LastIndexByte(to, '/')+1:], " (deleted)")
	return slices.Contains([]string{"node", "nodejs", "bun", "deno", "electron"}, name)
}
