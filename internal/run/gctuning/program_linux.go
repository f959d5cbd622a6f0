package gctuning

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// forgetStart takes the pages of the program's own file out of this process; those that are needed
// again come back from the system's cache, 16 at once. A start touches most of a program, and of
// what it leaves mapped a third is not used later. What cannot be read, or is refused, stays as it
// is: nothing depends on it.
func forgetStart() {
	f, err := os.Open("/proc/self/maps")
	if err != nil || strconv.IntSize < 64 || debugged() {
		return
	}
	defer f.Close()
	if self, err := os.Readlink("/proc/self/exe"); err == nil {
		untouched(f, self, func(from, to uintptr) {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		})
	}
}

// debugged reports whether a debugger is there, which writes its breakpoints into the program.
func debugged() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err != nil || !bytes.Contains(status, []byte("\nTracerPid:\t0\n"))
}

// mostFixed is below where a program is mapped that lies where its file says. One that may lie
// anywhere is put far above, and its loader writes into pages that are not written later.
const mostFixed = 1 << 32

// untouched calls yield with each mapping of a file that is as the file is: it lies where the file
// says, and cannot be written. The text is that of /proc/PID/maps (proc(5)); smaps would also say
// what was written, but looks at each page for that.
func untouched(maps io.Reader, file string, yield func(from, to uintptr)) {
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if m := parseMapping(lines.Bytes(), file); m.readOnly && uint64(m.to) < mostFixed {
			yield(m.from, m.to)
		}
	}
}

// mapping is what the head of one says.
type mapping struct {
	from, to uintptr
	readOnly bool // of the file that was asked for
}

// parseMapping reads "from-to perms offset device inode   path".
func parseMapping(head []byte, file string) mapping {
	words := bytes.SplitN(head, []byte(" "), 6) // a path may have blanks itself
	if len(words) < 6 || len(words[1]) != 4 {
		return mapping{}
	}
	from, to, _ := bytes.Cut(words[0], []byte("-"))
	start, err := strconv.ParseUint(string(from), 16, 64)
	end, err2 := strconv.ParseUint(string(to), 16, 64)
	if err != nil || err2 != nil {
		return mapping{}
	}
	readOnly := words[1][1] == '-' && words[1][3] == 'p' && string(bytes.TrimLeft(words[5], " ")) == file
	return mapping{uintptr(start), uintptr(end), readOnly}
}
