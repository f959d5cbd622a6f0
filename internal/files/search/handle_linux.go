package search

import (
	"errors"
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// handle is an open regular file; one is used for one file after another. Once open, it has to be
// closed.
type handle struct {
	fd    int
	whole bool       // a read that does not fill the buffer has reached the end
	begun bool       // it was read from
	waits bool       // a file system that was asked cannot read without waiting
	part  unix.Iovec // for the system, as is the name
	name  [256]byte
}

const openFileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_LARGEFILE

// openFile opens an entry that the folder says is a regular file. Should a FIFO have taken its
// place since, neither opening nor reading waits.
func (f folder) openFile(name string, h *handle) error {
	h.whole, h.begun = f.whole, false
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

// asker asks about files without an allocation for each.
type asker struct {
	name [256]byte // with a NUL behind it, for the system
	st   unix.Stat_t
}

// file returns the size of an entry and when it was modified, in nanoseconds since 1970; of a link,
// not of what it leads to.
func (a *asker) file(f folder, name string) (size, modified int64, err error) {
	err = a.ask(f, name)
	return a.st.Size, a.st.Mtim.Nano(), err
}

// ask fills st with what a search wants to know of an entry. Where files are many, the older call
// is a tenth cheaper than statx.
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

// wholeReaders are the file systems whose regular files are read as far as the buffer goes, or to
// their end: those that are on a disk or in memory here. Others may give less before the end:
// /proc, FUSE, those over a network.
var wholeReaders = [...]int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC,
}

// readsWhole reports whether a read of a file in an open folder that does not fill the buffer has
// reached the end.
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

// Read reads on. It tells the end together with the last bytes where it knows.
func (h *handle) Read(p []byte) (int, error) {
	n, end := 0, false
	if h.whole && !h.begun {
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
			return n, nil // the next read will say so again
		}
		n += more
		return n, ended(n < len(p) && (more == 0 || h.whole))
	}
}

func ended(end bool) error {
	if end {
		return io.EOF
	}
	return nil
}

// ReadAt reads from a place; what is left to Read stays the same.
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

// Size is how long the file is now, in bytes; 0 when that cannot be told.
func (h *handle) Size() int64 {
	var st unix.Stat_t
	if unix.Fstat(h.fd, &st) != nil {
		return 0
	}
	return st.Size
}

// SkipHole moves the place for reading out of a hole, and returns how far: to where data follows,
// or else to the end.
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
	if h.whole {
		closeNow(h.fd)
		return nil
	}
	return unix.Close(h.fd)
}
