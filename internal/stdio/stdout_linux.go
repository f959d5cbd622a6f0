package stdio

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ClosedAtStart reports whether stdout was closed when adze was started, as by >&- in a shell. The runtime puts
// /dev/null, opened for reading and writing, in its place before any code of ours runs, and to write an answer there is
// to lose it in silence. Programs start others with such a /dev/null on purpose; a shell that is asked for one opens it
// for writing only. So it counts only under a shell that has another stdout itself.
func ClosedAtStart(stdout *os.File) bool {
	flags, err := unix.FcntlInt(stdout.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	if flags&unix.O_ACCMODE != unix.O_RDWR || !isNull("self", int(stdout.Fd())) {
		return false
	}
	parent := fmt.Sprint(os.Getppid())
	name, err := os.ReadFile("/proc/" + parent + "/comm")
	shells := []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox"}
	return err == nil && slices.Contains(shells, strings.TrimSpace(string(name))) && !isNull(parent, 1)
}

func isNull(process string, fd int) bool {
	to, err := os.Readlink(fmt.Sprintf("/proc/%s/fd/%d", process, fd))
	return err == nil && to == os.DevNull
}
