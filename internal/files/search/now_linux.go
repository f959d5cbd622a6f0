package search

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of this file are about what the kernel has in memory, and fail where it would have to
// wait for a disk. So the scheduler need not be told that a thread may wait, as it has to be
// otherwise at each of the three calls for a file: it takes the processor away from some of them,
// only to give it back some microseconds later, and has to look for those all the time. After such
// a failure the call is made again in the usual way, where waiting is no harm.

// resolveCached is RESOLVE_CACHED of openat2(2), of Linux 5.12.
const resolveCached = 0x20

// openNow opens an entry of a folder if that needs no waiting. path is memory for its name, with a
// NUL behind it.
func openNow(dir int, name string, path *[256]byte, flags, resolve uint64) (fd int, ok bool) {
	if len(name) >= len(path) {
		return -1, false
	}
	path[copy(path[:], name)] = 0
	how := unix.OpenHow{Flags: flags, Resolve: resolveCached | resolve}
	got, _, errno := unix.RawSyscall6(unix.SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow, 0, 0)
	return int(got), errno == 0
}

// closeNow closes a descriptor for reading on a file system that has nothing to do then.
func closeNow(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// readNow reads a file from its start, as far as that needs no waiting, and reports whether that
// was all of it.
func (h *handle) readNow(p []byte) (n int, end bool) {
	if h.waits || len(p) == 0 {
		return 0, false
	}
	h.part.Base = &p[0]
	h.part.SetLen(len(p))
	const here = ^uintptr(0) // the place where the last read ended
	got, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(h.fd), uintptr(unsafe.Pointer(&h.part)), 1, here, here, unix.RWF_NOWAIT)
	switch errno {
	case 0:
		n = int(got)
		return n, n < len(p) && n%os.Getpagesize() != 0 // the missing part begins with a page
	case syscall.EOPNOTSUPP, syscall.ENOSYS:
		h.waits = true
	}
	return 0, false
}
