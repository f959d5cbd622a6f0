//go:build amd64 || arm64

package seccomptrace

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// processOf returns a thread's process id, or 0 if it is gone.
func processOf(thread int) int {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	_, rest, _ := strings.Cut(string(status), "\nTgid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	return pid
}

const (
	sysPidfdOpen = 434

	pageSize = 4096 // the smallest one; longer pages are read in parts
	maxPath  = 4096
)

// read copies the calling thread's memory, up to the end of its mapping.
func (n *notice) read(at uint64, size int) []byte {
	buf := make([]byte, size)
	got := 0
	for got < size {
		part := min(size-got, int(pageSize-(at+uint64(got))%pageSize))
		local := syscall.Iovec{Base: &buf[got]}
		local.SetLen(part)
		remote := struct{ base, size uint64 }{at + uint64(got), uint64(part)}
		done, _, errno := syscall.Syscall6(sysProcessVMRead, uintptr(n.pid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		if errno != 0 {
			break
		}
		if got += int(done); bytes.IndexByte(buf[got-int(done):got], 0) >= 0 && size == maxPath {
			break
		}
	}
	return buf[:got]
}

// text returns a path from memory; false if there is none.
func (n *notice) text(at uint64) (string, bool) {
	if at == 0 {
		return "", false
	}
	s, _, whole := strings.Cut(string(n.read(at, maxPath)), "\x00")
	return s, whole && s != ""
}
