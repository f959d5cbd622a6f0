//go:build unix

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Disk is the operating system's FS.
type Disk struct{}

// OpenDir opens the root directory.
func (Disk) OpenDir() (Dir, error) {
	fd, err := openat(unix.AT_FDCWD, "/", dirFlags)
	if err != nil {
		return nil, err
	}
	return &diskDir{fd: fd}, nil
}

const (
	dirFlags  = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fileFlags = unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
)

type diskDir struct{ fd int }

func openat(dir int, name string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Openat(dir, name, flags, 0) })
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func (d *diskDir) OpenDir(name string) (Dir, error) {
	fd, err := openat(d.fd, name, dirFlags)
	if errors.Is(err, unix.EACCES) && searchOnly != 0 {
		fd, err = openat(d.fd, name, dirFlags|searchOnly)
	}
	if err != nil {
		return nil, err
	}
	return &diskDir{fd: fd}, nil
}

func (d *diskDir) Open(name string) (File, error) {
	fd, err := openat(d.fd, name, unix.O_RDONLY|fileFlags)
	if err != nil {
		return nil, err
	}
	return &diskFile{fd: fd, madeUp: madeUp(fd)}, nil
}

func (d *diskDir) Create(name string, perm fs.FileMode) (File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|fileFlags, uint32(perm.Perm()))
	})
	if err != nil {
		return nil, err
	}
	return &diskFile{fd: fd}, nil
}

func (d *diskDir) Lstat(name string) (Info, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return infoOf(&st), err
}

func (d *diskDir) Info() (Info, error) { return fstat(d.fd) }

func (d *diskDir) Mkdir(name string) error { return unix.Mkdirat(d.fd, name, 0o777) }

func (d *diskDir) Rename(from, to string, replace bool) error {
	if replace {
		return unix.Renameat(d.fd, from, d.fd, to)
	}
	return renameNew(d.fd, from, to)
}

func (d *diskDir) Remove(name string) error    { return unix.Unlinkat(d.fd, name, 0) }
func (d *diskDir) RemoveDir(name string) error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) }
func (d *diskDir) Close() error                { return unix.Close(d.fd) }

// Sync makes the folder's entries durable. It ignores folders that may only be searched and file
// systems that cannot sync folders; neither means data loss.
func (d *diskDir) Sync() error {
	err := unix.Fsync(d.fd)
	if errors.Is(err, unix.EBADF) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

// Names returns up to limit entries, unordered.
func (d *diskDir) Names(limit int) ([]string, error) {
	fd, err := openat(d.fd, ".", dirFlags)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

type diskFile struct {
	fd     int
	madeUp bool
}

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := retry(func() (int, error) { return unix.Pread(f.fd, p[done:], off+int64(done)) })
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

func (f *diskFile) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := retry(func() (int, error) { return unix.Write(f.fd, p[done:]) })
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// CopyFrom copies in the kernel if possible, else through a buffer.
func (f *diskFile) CopyFrom(src File, off, n int64) error {
	if from, ok := src.(*diskFile); ok {
		moved, err := kernelCopy(f.fd, from.fd, off, n)
		off, n = off+moved, n-moved
		if err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	return bufferCopy(f, src, off, n)
}

func (f *diskFile) Info() (Info, error) {
	info, err := fstat(f.fd)
	info.MadeUp = f.madeUp
	return info, err
}

func (f *diskFile) Sync() error  { return unix.Fsync(f.fd) }
func (f *diskFile) Close() error { return unix.Close(f.fd) }

// Keep sets the owner before the mode, because changing the owner clears the set-id bits.
func (f *diskFile) Keep(old Info, from File) error {
	now, err := f.Info()
	if err != nil {
		return err
	}
	mode := old.Mode
	if now.UID != old.UID || now.GID != old.GID {
		if unix.Fchown(f.fd, int(old.UID), int(old.GID)) != nil {
			// Only root may change the owner. Keep the group if the user is a member, and never a
			// set-id bit under a new owner.
			if unix.Fchown(f.fd, -1, int(old.GID)) != nil || now.UID != old.UID {
				mode &^= fs.ModeSetuid | fs.ModeSetgid
			}
		}
	}
	if src, ok := from.(*diskFile); ok {
		copyAttributes(f.fd, src.fd)
	}
	return unix.Fchmod(f.fd, unixMode(mode))
}

// copyAttributes copies extended attributes (ACLs, labels) as far as possible: a file system
// without them, or an attribute only root may set, must not prevent a write.
func copyAttributes(to, from int) {
	list := make([]byte, 4<<10)
	n, err := unix.Flistxattr(from, list)
	if err != nil || n <= 0 {
		return
	}
	value := make([]byte, 64<<10)
	for _, name := range splitNames(list[:n]) {
		if size, err := unix.Fgetxattr(from, name, value); err == nil {
			_ = unix.Fsetxattr(to, name, value[:size], 0)
		}
	}
}

func splitNames(list []byte) (names []string) {
	start := 0
	for i, b := range list {
		if b == 0 {
			names = append(names, string(list[start:i]))
			start = i + 1
		}
	}
	return names
}

func fstat(fd int) (Info, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstat(fd, &st) })
	return infoOf(&st), err
}

func lstat(path string) (Info, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Lstat(path, &st) }); err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return infoOf(&st), nil
}

// lookAndRename replaces renameNew without kernel support; another writer may create the file in
// between.
func lookAndRename(dir int, from, to string) error {
	var st unix.Stat_t
	if unix.Fstatat(dir, to, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return unix.EEXIST
	}
	return unix.Renameat(dir, from, dir, to)
}

// inUse is always false: these systems have no exclusive opening.
func inUse(error) bool { return false }
