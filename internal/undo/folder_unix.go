//go:build linux || darwin

package undo

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// again repeats a system call interrupted by a signal.
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

func openRoot(path string) (folder, error) { return folder{unix.AT_FDCWD}.openFolder(path) }

func (f folder) openFolder(name string) (folder, error) {
	fd, err := openAt(f.fd, name, folderFlags, 0)
	return folder{fd}, err
}

func (f folder) close() { _ = unix.Close(f.fd) }

// rewind makes the next read start at the first entry.
func (f folder) rewind() error {
	_, err := unix.Seek(f.fd, 0, unix.SEEK_SET)
	return err
}

func (f folder) stat(name string) (stat, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return stat{}, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	return statFrom(&st), nil
}

func statPath(path string) (stat, error) { return folder{fd: unix.AT_FDCWD}.stat(path) }

func (f folder) readLink(name string) string {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(f.fd, name, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

const fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

func (f folder) openFile(name string) (*os.File, error) {
	fd, err := openAt(f.fd, name, fileFlags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func statOpen(f *os.File) (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stat{}, err
	}
	return statFrom(&st), nil
}

// read returns the folder's names in the file system's order.
func (f folder) read(m *names) ([]string, error) {
	if m.raw == nil {
		m.raw = make([]byte, readAtOnce)
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
		_, _, all = unix.ParseDirent(m.raw[:n], -1, all)
	}
}

// names is a reusable buffer for reading folders.
type names struct{ raw []byte }

// in bytes
const readAtOnce = 8 << 10

// space returns the disk's free bytes for a user and its total bytes.
func space(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, fmt.Errorf("look at the space of the disk: %w", err)
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
}
