package workspace

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// searchOnly opens a folder we may pass through but not list.
const searchOnly = unix.O_PATH

// renameNew fails with EEXIST when to is there. File systems without the flag (some network ones)
// get a look first.
func renameNew(dir int, from, to string) error {
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return lookAndRename(dir, from, to)
	}
	return err
}

// kernelCopy moves n bytes from off of src to the write position of dst without bringing them here.
// It returns what it moved; nil with less than n means that this pair of files cannot be copied
// that way.
func kernelCopy(dst, src int, off, n int64) (int64, error) {
	var moved int64
	for moved < n {
		at := off + moved
		// One call at a time stays under 128 MiB, so that an abort is noticed in between.
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

// madeUp reports a file whose size and content the kernel makes up while it is read.
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

// dirOf is an open folder as those of Disk are.
func dirOf(f *os.File) (Dir, error) {
	fd, err := openat(int(f.Fd()), ".", dirFlags)
	if err != nil {
		return nil, err
	}
	return &diskDir{fd: fd}, nil
}

// byDescriptor is a name for an open folder, also for one that has no other.
func byDescriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
