package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/files/search/ignore"
)

// folder is an open folder. Everything below it is opened relative to its descriptor.
type folder struct {
	fd        int
	fullReads bool // on a file system in wholeReaders
}

// direntBuffer is the number of bytes that getdents64 may return at once.
const direntBuffer = 32 << 10

const openFolderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// instead returns the path under which to open a file: below OpenDir if it lies in Enclosing.
func (t Tree) instead(path string) string {
	if rel, ok := t.below(path); ok {
		return fmt.Sprintf("/proc/self/fd/%d/%s", t.OpenDir.Fd(), rel)
	}
	return path
}

// below returns the path relative to OpenDir.
func (t Tree) below(path string) (string, bool) {
	if t.OpenDir == nil {
		return "", false
	}
	rel, err := filepath.Rel(t.Enclosing, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// openRoot opens the root folder without following links: the caller resolved them, and a link that
// appeared since may be an attack.
func (t Tree) openRoot() (folder, error) {
	path := t.Root
	fd, err := t.openPath(openFolderFlags)
	if errors.Is(err, unix.ENOTDIR) {
		return folder{}, errNotFolder
	}
	if err != nil {
		return folder{}, &pathError{"open", path, err}
	}
	return folder{fd, readsWhole(fd)}, nil
}

// openRootFile opens the root as a regular file without following links.
func (t Tree) openRootFile(h *handle) error {
	path := t.Root
	fd, err := t.openPath(openFileFlags)
	if errors.Is(err, unix.ENXIO) {
		return errNotRegular // a socket
	}
	if err != nil {
		return &pathError{"open", path, err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.Join(errNotRegular, err, unix.Close(fd))
	}
	h.fd, h.fullReads, h.begun = fd, false, false
	return nil
}

func (t Tree) openPath(flags int) (int, error) {
	path, from := t.Root, unix.AT_FDCWD
	if rel, ok := t.below(path); ok {
		path, from = rel, int(t.OpenDir.Fd())
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(from, path, &how)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			// A kernel before 5.6, or a seccomp filter that does not know the call.
			return openAt(from, path, flags)
		}
		return fd, err
	}
}

func openAt(fd int, name string, flags int) (int, error) {
	for {
		child, err := unix.Openat(fd, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return child, err
		}
	}
}

// openFolder opens a subfolder. One on the same file system inherits the parent's properties.
func (f folder) openFolder(name string) (folder, error) {
	var path [256]byte
	if fd, ok := openNow(f.fd, name, &path, openFolderFlags, unix.RESOLVE_NO_XDEV); ok {
		return folder{fd, f.fullReads}, nil
	}
	fd, err := openAt(f.fd, name, openFolderFlags)
	if err != nil {
		return folder{}, &pathError{"open", name, err}
	}
	return folder{fd, readsWhole(fd)}, nil
}

func (f folder) close() {
	if f.fullReads {
		closeNow(f.fd)
		return
	}
	_ = unix.Close(f.fd)
}

func (f folder) stat(name string) (stat, error) {
	st, err := f.fstatat(name)
	if err != nil {
		return stat{}, &pathError{"stat", name, err}
	}
	return stat{kind: f.kindOf(byte(st.Mode>>12&15), name), size: st.Size, modified: time.Unix(st.Mtim.Unix())}, nil
}

func (f folder) fstatat(name string) (st unix.Stat_t, err error) {
	for {
		err = unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.EINTR) {
			return st, err
		}
	}
}

func (f folder) readLink(name string) string {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(f.fd, name, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

type names struct {
	query ignore.Query
	tasks []task
	files []entry
	raw   []byte
	arena []byte
	ends  []int
	kinds []kind
	own   []entry
	list  []entry // entries read: in own, or shared and read-only
	more  bool
}

// read reads about most entries in the file system's order, continuing after the last read. The
// list is valid until the next read; the name strings stay valid.
func (f folder) read(n *names, most int) error {
	if n.raw == nil {
		n.raw = make([]byte, direntBuffer)
	}
	n.arena, n.ends, n.kinds, n.list = n.arena[:0], n.ends[:0], n.kinds[:0], nil
	for n.more = true; n.more && len(n.ends) < most; {
		got, err := unix.ReadDirent(f.fd, n.raw)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n.more = got > 0; n.more && n.parse(f, n.raw[:got]) == lastPlace && f.fullReads {
			n.more = false
		}
	}
	all, start := string(n.arena), 0
	n.own = slices.Grow(n.own[:0], len(n.ends))
	for i, end := range n.ends {
		n.own = append(n.own, entry{name: all[start:end], kind: n.kinds[i]})
		start = end
	}
	n.list = n.own
	return nil
}

// lastPlace is the offset after the last entry on ext4, the largest possible one; another read
// would return nothing.
const lastPlace = math.MaxInt64

// parse reads struct linux_dirent64 records: inode 8 bytes, next record's offset 8, length 2, type
// 1, name. It returns the last offset.
func (n *names) parse(f folder, raw []byte) (place uint64) {
	const nameAt = 19
	for len(raw) >= nameAt {
		size := int(binary.NativeEndian.Uint16(raw[16:]))
		name, _, _ := bytes.Cut(raw[nameAt:size], []byte{0})
		if s := string(name); s != "." && s != ".." {
			n.arena = append(n.arena, name...)
			n.ends = append(n.ends, len(n.arena))
			n.kinds = append(n.kinds, f.kindOf(raw[18], s))
		}
		place = binary.NativeEndian.Uint64(raw[8:])
		raw = raw[size:]
	}
	return place
}

// kindOf converts the type in a directory record; some file systems leave it to stat.
func (f folder) kindOf(t byte, name string) kind {
	switch t {
	case unix.DT_REG:
		return kindFile
	case unix.DT_DIR:
		return kindFolder
	case unix.DT_LNK:
		return kindLink
	case unix.DT_UNKNOWN:
		st, err := f.fstatat(name)
		if err == nil && st.Mode&unix.S_IFMT != 0 {
			return f.kindOf(byte(st.Mode>>12&15), name)
		}
	}
	return kindOther
}

type pathError struct {
	op, name string
	err      error
}

func (e *pathError) Error() string { return e.op + " " + e.name + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }
