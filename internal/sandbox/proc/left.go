//go:build unix

package proc

import (
	"os"
	"syscall"
)

// maxLeft bounds the reads of what is left in a pipe, which holds at most 1 MiB for who is not root
// (pipe(7)).
const maxLeft = (1 << 20) / chunkSize

// left takes what is in a pipe and waits for nothing. The command has written it before it ended;
// only this process may have come to it too late.
func left(from *os.File, take func([]byte)) {
	buf := make([]byte, chunkSize)
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // a Read would refuse, because the time is over
		for range maxLeft {
			n, err := syscall.Read(int(fd), buf)
			if err != nil && err != syscall.EINTR || err == nil && n == 0 {
				return
			}
			take(buf[:max(n, 0)])
		}
	})
}
