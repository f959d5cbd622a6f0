package gctuning

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// forgetStart drops the executable's resident pages; needed ones are reloaded from the page cache,
// 16 at once. A start touches most pages, and a third of those mapped are not used later. Errors
// are ignored, because nothing depends on it.
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

// debugged reports whether a debugger is attached, which writes breakpoints into the program.
func debugged() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err != nil || !bytes.Contains(status, []byte("\nTracerPid:\t0\n"))
}

// mostFixed is the address below which executables are mapped at fixed addresses. A
// position-independent one is mapped far above, and its loader writes to pages that later are
// read-only.
const mostFixed = 1 << 32

// untouched calls yield with each unmodified mapping of a file: at its fixed address and not
// writable. It reads /proc/PID/maps (proc(5)); smaps would also report modified pages, but examines
// each page for that.
func untouched(maps io.Reader, file string, yield func(from, to uintptr)) {
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if m := parseMapping(lines.Bytes(), file); m.readOnly && uint64(m.to) < mostFixed {
			yield(m.from, m.to)
		}
	}
}

// mapping is a parsed line.
type mapping struct {
	from, to uintptr
	readOnly bool // and maps the given file
}

// parseMapping parses "from-to perms offset device inode   path".
func parseMapping(head []byte, file string) mapping {
	words := bytes.SplitN(head, []byte(" "), 6) // the path may contain spaces
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
