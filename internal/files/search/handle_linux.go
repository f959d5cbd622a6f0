package search

import (
	"errors"
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// handle is an open regular file, reused for one file after another. It must be closed.
type handle struct {
	fd        int
	fullReads bool       // a short read means EOF
	begun     bool       // already read from
	waits     bool       // non-blocking reads failed on this file system
	part      unix.Iovec // system call argument, like name
	name      [256]byte
}

const openFileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_LARGEFILE

// openFile opens an entry listed as a regular file. If a FIFO has replaced it, neither opening nor
// reading blocks.
func (f folder) openFile(name string, h *handle) error {
	h.fullReads, h.begun = f.fullReads, false
	var ok bool
	if h.fd, ok = openNow(f.fd, name, &h.name, openFileFlags, 0); ok {
		return nil
	}
	fd, err := openAt(f.fd, name, openFileFlags)
	if err != nil {
		return &pathError{"open", name, err}
	}
	h.fd = fd
	return nil
}

// asker stats files without allocating.
type asker struct {
	name [256]byte // NUL-terminated
	st   unix.Stat_t
}

// file returns an entry's size and modification time in nanoseconds since 1970; links are not
// followed.
func (a *asker) file(f folder, name string) (size, modified int64, err error) {
	err = a.ask(f, name)
	return a.st.Size, a.st.Mtim.Nano(), err
}

// ask fills st. For many files the older fstatat is a tenth cheaper than statx.
func (a *asker) ask(f folder, name string) (err error) {
	if statCall == 0 || len(name) >= len(a.name) {
		a.st, err = f.fstatat(name)
		return err
	}
	a.name[copy(a.name[:], name)] = 0
	for {
		_, _, errno := unix.Syscall6(statCall, uintptr(f.fd), uintptr(unsafe.Pointer(&a.name[0])), uintptr(unsafe.Pointer(&a.st)),
			unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		switch errno {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return errno
		}
	}
}

// wholeReaders are the file systems on local disks or in memory, where reading a regular file fills
// the buffer or reaches the end. Others may return less before the end: /proc, FUSE, network file
// systems.
var wholeReaders = [...]int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC,
}

// readsWhole reports whether a short read in the folder means EOF.
func readsWhole(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return false
	}
	for _, magic := range wholeReaders {
		if int64(st.Type) == magic {
			return true
		}
	}
	return false
}

// Read returns io.EOF together with the last bytes if the end is known.
func (h *handle) Read(p []byte) (int, error) {
	n, end := 0, false
	if h.fullReads && !h.begun {
		h.begun = true
		if n, end = h.readNow(p); end || n == len(p) {
			return n, ended(end)
		}
	}
	for {
		more, err := unix.Read(h.fd, p[n:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil && n == 0:
			return 0, err
		case err != nil:
			return n, nil // the next read returns the error again
		}
		n += more
		return n, ended(n < len(p) && (more == 0 || h.fullReads))
	}
}

func ended(end bool) error {
	if end {
		return io.EOF
	}
	return nil
}

// ReadAt reads at an offset without moving Read's position.
func (h *handle) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		got, err := unix.Pread(h.fd, p[n:], at+int64(n))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return n, err
		case got == 0:
			return n, io.EOF
		}
		n += got
	}
	return n, nil
}

// Size returns the file's current size in bytes, or 0 if it is unknown.
func (h *handle) Size() int64 {
	var st unix.Stat_t
	if unix.Fstat(h.fd, &st) != nil {
		return 0
	}
	return st.Size
}

// SkipHole moves the read position past a hole, to the next data or the end, and returns the
// distance.
func (h *handle) SkipHole() int64 {
	at, err := unix.Seek(h.fd, 0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	next, err := unix.Seek(h.fd, at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) { // no data follows
		next, err = unix.Seek(h.fd, 0, io.SeekEnd)
	}
	if err != nil {
		return 0
	}
	return next - at
}

// Close closes the file.
func (h *handle) Close() error {
	if h.fullReads {
		closeNow(h.fd)
		return nil
	}
	return unix.Close(h.fd)
}
