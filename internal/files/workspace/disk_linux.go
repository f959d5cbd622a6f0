package workspace

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// searchOnly opens a folder that may be entered but not listed.
const searchOnly = unix.O_PATH

// renameNew fails with EEXIST if to exists. On file systems without the flag (some network ones) it
// checks first.
func renameNew(dir int, from, to string) error {
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return lookAndRename(dir, from, to)
	}
	return err
}

// kernelCopy copies n bytes from src at off to dst's write position inside the kernel and returns
// the number copied. A smaller number without an error means that this pair of files needs another
// way.
func kernelCopy(dst, src int, off, n int64) (int64, error) {
	var moved int64
	for moved < n {
		at := off + moved
		// A call copies less than 128 MiB, so that an abort is noticed in between.
		c, err := retry(func() (int, error) {
			return unix.CopyFileRange(src, &at, dst, nil, int(min(n-moved, 128<<20)), 0)
		})
		switch {
		case errors.Is(err, unix.EXDEV), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			return moved, nil
		case err != nil:
			return moved, err
		case c == 0:
			return moved, nil
		}
		moved += int64(c)
	}
	return moved, nil
}

// madeUp reports whether the kernel generates the file's content on reading.
func madeUp(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return false
	}
	switch int64(st.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC:
		return true
	}
	return false
}

func dirOf(f *os.File) (Dir, error) {
	fd, err := openat(int(f.Fd()), ".", dirFlags)
	if err != nil {
		return nil, err
	}
	return &diskDir{fd: fd}, nil
}

// byDescriptor returns a path to an open folder, even if it has no name.
func byDescriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
