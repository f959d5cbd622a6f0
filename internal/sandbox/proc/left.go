//go:build unix

package proc

import (
	"os"
	"syscall"
)

// maxLeft limits the reads from a pipe's buffer, at most 1 MiB for non-root users (pipe(7)).
const maxLeft = (1 << 20) / chunkSize

// left reads a pipe's buffered data without waiting. The command wrote it before its end, but this
// process was too late to read it.
func left(from *os.File, take func([]byte)) {
	buf := make([]byte, chunkSize)
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // a Read would fail after the deadline
		for range maxLeft {
			n, err := syscall.Read(int(fd), buf)
			if err != nil && err != syscall.EINTR || err == nil && n == 0 {
				return
			}
			take(buf[:max(n, 0)])
		}
	})
}
