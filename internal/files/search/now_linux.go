package search

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls in this file use only what the kernel has in memory and fail if it would have to wait
// for a disk. They therefore bypass the Go scheduler's system call hooks, which otherwise, at three
// calls for each file, keep taking the processor from threads and giving it back some microseconds
// later. After a failure the call is repeated in the ordinary way, which may block.

// resolveCached is RESOLVE_CACHED of openat2(2), Linux 5.12.
const resolveCached = 0x20

// openNow opens an entry if that needs no waiting. path is a buffer for the NUL-terminated name.
func openNow(dir int, name string, path *[256]byte, flags, resolve uint64) (fd int, ok bool) {
	if len(name) >= len(path) {
		return -1, false
	}
	path[copy(path[:], name)] = 0
	how := unix.OpenHow{Flags: flags, Resolve: resolveCached | resolve}
	got, _, errno := unix.RawSyscall6(unix.SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow, 0, 0)
	return int(got), errno == 0
}

// closeNow closes a read-only descriptor on a file system where closing does not block.
func closeNow(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// readNow reads a file from its start as far as possible without waiting, and reports whether it
// reached the end.
func (h *handle) readNow(p []byte) (n int, end bool) {
	if h.waits || len(p) == 0 {
		return 0, false
	}
	h.part.Base = &p[0]
	h.part.SetLen(len(p))
	const here = ^uintptr(0) // the current position
	got, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(h.fd), uintptr(unsafe.Pointer(&h.part)), 1, here, here, unix.RWF_NOWAIT)
	switch errno {
	case 0:
		n = int(got)
		return n, n < len(p) && n%os.Getpagesize() != 0 // missing data would begin at a page boundary
	case syscall.EOPNOTSUPP, syscall.ENOSYS:
		h.waits = true
	}
	return 0, false
}
