package undo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is an open folder. Everything in it is reached by its descriptor.
type folder struct{ fd int }

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// again repeats a system call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func openAt(fd int, name string, flags int, mode uint32) (child int, err error) {
	err = again(func() error {
		child, err = unix.Openat(fd, name, flags, mode)
		return err
	})
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return child, nil
}

func openRoot(path string) (folder, error) {
	fd, err := openAt(unix.AT_FDCWD, path, folderFlags, 0)
	return folder{fd}, err
}

func (f folder) openFolder(name string) (folder, error) {
	fd, err := openAt(f.fd, name, folderFlags, 0)
	return folder{fd}, err
}

// beneath opens a folder by its path from f ("" is f itself), through no link and not out of f.
func (f folder) beneath(path string) (folder, error) {
	if path == "" {
		path = "."
	}
	how := unix.OpenHow{Flags: folderFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	var fd int
	for {
		var err error
		fd, err = unix.Openat2(f.fd, path, &how)
		switch {
		case err == nil:
			return folder{fd}, nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			return f.descend(path) // a kernel before 5.6, or a filter that does not know the call
		default:
			return folder{}, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// descend is beneath by one name after another.
func (f folder) descend(path string) (folder, error) {
	at, err := f.openFolder(".")
	for name := range strings.SplitSeq(path, "/") {
		if err != nil || name == ".." {
			return folder{}, errors.Join(err, os.ErrPermission)
		}
		above := at
		at, err = above.openFolder(name)
		above.close()
	}
	return at, err
}

func (f folder) close() { _ = unix.Close(f.fd) }

// rewind makes the next read begin at the first entry.
func (f folder) rewind() error {
	_, err := unix.Seek(f.fd, 0, unix.SEEK_SET)
	return err
}

// names is the memory for reading folders, used again for each.
type names struct{ raw []byte }

// read lists the names of a folder in the order of the file system.
func (f folder) read(m *names) ([]string, error) {
	if m.raw == nil {
		m.raw = make([]byte, 32<<10)
	}
	var all []string
	for {
		var n int
		err := again(func() (err error) { n, err = unix.ReadDirent(f.fd, m.raw); return err })
		if err != nil {
			return nil, fmt.Errorf("read folder: %w", err)
		}
		if n <= 0 {
			return all, nil
		}
		// Records of struct linux_dirent64: inode 8 bytes, offset 8, length 2, type 1, name.
		for raw := m.raw[:n]; len(raw) > 19; {
			size := int(binary.NativeEndian.Uint16(raw[16:]))
			name, _, _ := bytes.Cut(raw[19:size], []byte{0})
			if s := string(name); s != "." && s != ".." {
				all = append(all, s)
			}
			raw = raw[size:]
		}
	}
}

func (f folder) stat(name string) (stat, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return stat{}, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	return statFrom(&st), nil
}

func statPath(path string) (stat, error) { return folder{unix.AT_FDCWD}.stat(path) }

func statFrom(st *unix.Stat_t) stat {
	return stat{mode: st.Mode, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		inode: inode{uint64(st.Dev), st.Ino}, links: uint64(st.Nlink)} //nolint:unconvert // differs by architecture
}

func (s stat) isFile() bool   { return s.mode&unix.S_IFMT == unix.S_IFREG }
func (s stat) isFolder() bool { return s.mode&unix.S_IFMT == unix.S_IFDIR }
func (s stat) isLink() bool   { return s.mode&unix.S_IFMT == unix.S_IFLNK }

func (f folder) readLink(name string) string {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(f.fd, name, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

const fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

// readFile reads a regular file of at most max bytes into buf or more, and returns the stat that the content
// belongs to.
func (f folder) readFile(name string, max int64, buf []byte) ([]byte, stat, error) {
	for range tries {
		content, st, err := f.readOnce(name, max, buf)
		if !errors.Is(err, errUnstable) {
			return content, st, err
		}
	}
	return nil, stat{}, errUnstable
}

func (f folder) readOnce(name string, max int64, buf []byte) ([]byte, stat, error) {
	fd, err := openAt(f.fd, name, fileFlags, 0)
	if err != nil {
		return nil, stat{}, err
	}
	defer unix.Close(fd)
	var before, after unix.Stat_t
	if err := unix.Fstat(fd, &before); err != nil {
		return nil, stat{}, err
	}
	if before.Mode&unix.S_IFMT != unix.S_IFREG || before.Size > max {
		return nil, stat{}, fmt.Errorf("%s is no file of at most %d bytes", name, max)
	}
	// One byte more than expected, so that the end is seen with the first read.
	if need := int(before.Size) + 1; cap(buf) < need {
		buf = make([]byte, need)
	}
	buf = buf[:before.Size+1]
	got := 0
	for got < len(buf) {
		var n int
		err := again(func() (err error) { n, err = unix.Read(fd, buf[got:]); return err })
		if err != nil {
			return nil, stat{}, &os.PathError{Op: "read", Path: name, Err: err}
		}
		if n == 0 {
			break
		}
		got += n
	}
	if err := unix.Fstat(fd, &after); err != nil {
		return nil, stat{}, err
	}
	if int64(got) != before.Size || !statFrom(&before).unchanged(statFrom(&after)) {
		return nil, stat{}, errUnstable
	}
	return buf[:got], statFrom(&after), nil
}

// space is how many bytes the disk of a path has for a person, and in all.
func (f folder) space(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, fmt.Errorf("look at the space of the disk: %w", err)
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
}
