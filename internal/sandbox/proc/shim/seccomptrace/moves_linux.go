//go:build amd64 || arm64

package seccomptrace

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// A view (box.View) cannot rename an existing folder (EXDEV), because the kernel lets no user
// record its origin. Many programs fail then (git mv, npm), so this process renames in their place:
// it recreates the folder and renames its content. It uses only descriptors that it has opened
// itself, and only within a view, where the command may do the same. The new folder gets an
// attribute with its old path (Moved), so that applying the changes renames it too. A file gets
// that attribute before the kernel renames it.

const (
	magicOverlay    = 0x794c7630
	noReplace       = 1      // RENAME_NOREPLACE
	exchange        = 2      // RENAME_EXCHANGE
	removeFolder    = 0x200  // AT_REMOVEDIR
	emptyPath       = 0x1000 // AT_EMPTY_PATH
	statxBorn       = 0x800  // STATX_BTIME
	statxBornAt     = 0x50   // offset in struct statx
	statxMount      = 0x1000 // STATX_MNT_ID, since Linux 5.8
	statxMountAt    = 0x90
	ioctlStillThere = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID
)

// move renames a folder in a view. It returns false to let the kernel do it.
func (w *Listener) move(n *notice) (reply, bool) {
	var flags uintptr
	if n.nr == sysRenameat2 {
		flags = uintptr(n.args[4])
	}
	if flags&^(noReplace|exchange) != 0 {
		return reply{}, false
	}
	at := renaming()[n.nr]
	from, ok := n.path(at[0], at[1])
	if !ok {
		return reply{}, false
	}
	to, ok := n.path(at[2], at[3])
	if !ok {
		return reply{}, false
	}
	folder := n.noteFile(from)
	if flags&exchange != 0 {
		folder = n.noteFile(to) || folder
	}
	if !folder {
		return reply{}, false
	}
	fromDir, fromName, ok := n.parent(from)
	if !ok {
		return reply{}, false
	}
	defer syscall.Close(fromDir)
	toDir, toName, ok := n.parent(to)
	if !ok {
		return reply{}, false
	}
	defer syscall.Close(toDir)
	if !w.stillAsks(n) {
		return reply{}, false
	}
	if !inView(fromDir) || mountOf(fromDir) == 0 || mountOf(fromDir) != mountOf(toDir) {
		return reply{}, false
	}
	errno := renameAt(fromDir, fromName, toDir, toName, flags)
	switch {
	case errno == syscall.EXDEV && flags&exchange != 0:
		errno = swap(fromDir, fromName, toDir, toName)
	case errno == syscall.EXDEV:
		errno = moveFolder(fromDir, fromName, toDir, toName, flags)
	}
	return reply{id: n.id, errno: -int32(errno)}, true
}

// noteFile records a file's path before the kernel renames it, and reports whether it is a folder.
func (n *notice) noteFile(path string) (folder bool) {
	fd, err := syscall.Open(n.rooted(path), oPath|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil {
		return false
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFREG && inView(fd) && !noted(fd) {
		note(fd, fd)
		note(fd, fd) // the first call copied the file up, which gave it a new birth time
	}
	return st.Mode&syscall.S_IFMT == syscall.S_IFDIR
}

// noted reports whether an entry already has a valid Moved attribute, with its first path.
func noted(fd int) bool {
	value := make([]byte, maxPath+64)
	n, err := syscall.Getxattr(descriptor(fd), Moved, value)
	if err != nil {
		return false
	}
	was, _, _ := strings.Cut(string(value[:n]), "\x00")
	seconds, nanoseconds := bornAt(fd)
	return string(value[:n]) == MovedValue(was, seconds, nanoseconds)
}

// note sets fd's Moved attribute to old's path.
func note(fd, old int) {
	if was, err := os.Readlink(descriptor(old)); err == nil {
		seconds, nanoseconds := bornAt(fd)
		_ = syscall.Setxattr(descriptor(fd), Moved, []byte(MovedValue(was, seconds, nanoseconds)), 0)
	}
}

// parent opens a path's folder.
func (n *notice) parent(path string) (fd int, name string, ok bool) {
	dir, name := split(n.rooted(path))
	if name == "" || name == "." || name == ".." {
		return -1, "", false
	}
	fd, err := syscall.Open(dir, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return fd, name, err == nil
}

// inView reports whether a folder is in a writable overlay.
func inView(fd int) bool {
	var fs syscall.Statfs_t
	return syscall.Fstatfs(fd, &fs) == nil && fs.Type == magicOverlay && fs.Flags&readOnly == 0
}

// statx returns one field, or nil if the kernel does not support it.
func statx(fd, field, at, size int) []byte {
	var buf [256]byte
	empty := [1]byte{}
	_, _, errno := syscall.Syscall6(sysStatx, uintptr(fd), uintptr(unsafe.Pointer(&empty)), emptyPath, uintptr(field), uintptr(unsafe.Pointer(&buf)), 0)
	if errno != 0 || int(binary.LittleEndian.Uint32(buf[:]))&field == 0 {
		return nil
	}
	return buf[at : at+size]
}

// mountOf returns a folder's mount id, or 0 if unknown.
func mountOf(fd int) uint64 {
	if id := statx(fd, statxMount, statxMountAt, 8); id != nil {
		return binary.LittleEndian.Uint64(id)
	}
	return 0
}

// bornAt returns the creation time, or 0 if unknown.
func bornAt(fd int) (seconds, nanoseconds int64) {
	if t := statx(fd, statxBorn, statxBornAt, 12); t != nil {
		return int64(binary.LittleEndian.Uint64(t)), int64(binary.LittleEndian.Uint32(t[8:]))
	}
	return 0, 0
}

func renameAt(fromDir int, from string, toDir int, to string, flags uintptr) syscall.Errno {
	a, err := syscall.BytePtrFromString(from)
	b, err2 := syscall.BytePtrFromString(to)
	if err != nil || err2 != nil {
		return syscall.EINVAL
	}
	_, _, errno := syscall.Syscall6(sysRenameat2, uintptr(fromDir), uintptr(unsafe.Pointer(a)), uintptr(toDir), uintptr(unsafe.Pointer(b)), flags, 0)
	return errno
}

func removeAt(dir int, name string) syscall.Errno {
	a, err := syscall.BytePtrFromString(name)
	if err != nil {
		return syscall.EINVAL
	}
	_, _, errno := syscall.Syscall(syscall.SYS_UNLINKAT, uintptr(dir), uintptr(unsafe.Pointer(a)), removeFolder)
	return errno
}

// moveFolder recreates a folder at its new path, renames its content, and removes the old one. As
// in rename(2), an empty folder at the new path is replaced.
func moveFolder(fromDir int, from string, toDir int, to string, flags uintptr) syscall.Errno {
	old, err := syscall.Openat(fromDir, from, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer syscall.Close(old)
	var st syscall.Stat_t
	if err := syscall.Fstat(old, &st); err != nil {
		return errnoOf(err)
	}
	err = syscall.Mkdirat(toDir, to, 0o700)
	if err == syscall.EEXIST && flags&noReplace == 0 {
		if errno := removeAt(toDir, to); errno != 0 {
			return errno
		}
		err = syscall.Mkdirat(toDir, to, 0o700)
	}
	if err != nil {
		return errnoOf(err)
	}
	made, err := syscall.Openat(toDir, to, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer syscall.Close(made)
	if errno := moveContent(old, made); errno != 0 {
		if moveContent(made, old) == 0 {
			_ = removeAt(toDir, to)
		}
		return errno
	}
	dress(made, old, st)
	return removeAt(fromDir, from)
}

// swap exchanges two entries, one of them an existing folder.
func swap(fromDir int, from string, toDir int, to string) syscall.Errno {
	const between = ".adze-exchange"
	if errno := move(fromDir, from, toDir, between); errno != 0 {
		return errno
	}
	if errno := move(toDir, to, fromDir, from); errno != 0 {
		_ = move(toDir, between, fromDir, from)
		return errno
	}
	return move(toDir, between, toDir, to)
}

// move renames an entry to an unused name.
func move(fromDir int, from string, toDir int, to string) syscall.Errno {
	errno := renameAt(fromDir, from, toDir, to, noReplace)
	if errno == syscall.EXDEV {
		errno = moveFolder(fromDir, from, toDir, to, noReplace)
	}
	return errno
}

// moveContent renames a folder's content into another.
func moveContent(from, to int) syscall.Errno {
	again, err := syscall.Openat(from, ".", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	f := os.NewFile(uintptr(again), "folder")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return syscall.EIO
	}
	for _, name := range names {
		if errno := move(from, name, to, name); errno != 0 {
			return errno
		}
	}
	return 0
}

// dress copies attributes, owner, mode and times from the old folder, and records its path.
func dress(fd, old int, st syscall.Stat_t) {
	to, from := descriptor(fd), descriptor(old)
	for _, name := range attributes(from) {
		value := make([]byte, 64<<10)
		if n, err := syscall.Getxattr(from, name, value); err == nil && name != Moved {
			_ = syscall.Setxattr(to, name, value[:n], 0)
		}
	}
	note(fd, old)
	if syscall.Geteuid() == 0 {
		_ = syscall.Fchown(fd, int(st.Uid), int(st.Gid))
	}
	_ = syscall.Fchmod(fd, st.Mode&0o7777)
	_ = syscall.UtimesNano(to, []syscall.Timespec{st.Atim, st.Mtim})
}

func descriptor(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// attributes lists a folder's extended attributes that its owner can set.
func attributes(path string) (names []string) {
	list := make([]byte, 64<<10)
	n, err := syscall.Listxattr(path, list)
	if err != nil {
		return nil
	}
	for name := range strings.SplitSeq(string(list[:n]), "\x00") {
		if strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "system.posix_acl_") {
			names = append(names, name)
		}
	}
	return names
}

func errnoOf(err error) syscall.Errno {
	if errno, ok := err.(syscall.Errno); ok {
		return errno
	}
	return syscall.EIO
}
