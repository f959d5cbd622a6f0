package namespace

import (
	"syscall"
	"unsafe"
)

// System calls missing in package syscall. Those above 423 have the same number on every
// architecture.
const (
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysFsopen       = 430
	sysFsconfig     = 431
	sysFsmount      = 432
	sysOpenat2      = 437
	sysMountSetattr = 442

	sysLandlockCreate   = 444
	sysLandlockAdd      = 445
	sysLandlockRestrict = 446
)

// Flags for these calls (linux/mount.h, linux/openat2.h, linux/fcntl.h).
const (
	openTreeClone   = 1
	openTreeCloexec = syscall.O_CLOEXEC
	atRecursive     = 0x8000
	atEmptyPath     = 0x1000
	oPath           = 0x200000

	moveFromEmpty = 0x04
	moveToEmpty   = 0x40

	attrReadOnly = 1
	attrNoSuid   = 2
	attrNoDev    = 4
	attrNoExec   = 8

	resolveNoMagic    = 0x02
	resolveNoSymlinks = 0x04

	fsconfigFlag   = 0
	fsconfigString = 1
	fsconfigCreate = 6
	fsCloexec      = 1
)

// call makes a system call again while signals interrupt it. The directive keeps what the arguments
// point at.
//
//go:uintptrescapes
func call(nr uintptr, a ...uintptr) (int, error) {
	var args [6]uintptr
	copy(args[:], a)
	for {
		r, _, errno := syscall.Syscall6(nr, args[0], args[1], args[2], args[3], args[4], args[5])
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return -1, errno
		}
		return int(r), nil
	}
}

// text returns a C string; the caller keeps it alive during the call.
func text(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

// openNoLinks opens a path relative to a folder without following any link.
func openNoLinks(at int, path string, flags uint64) (int, error) {
	how := [3]uint64{flags | syscall.O_CLOEXEC, 0, resolveNoSymlinks | resolveNoMagic}
	for len(path) > 0 && path[0] == '/' {
		path = path[1:]
	}
	if path == "" {
		path = "."
	}
	name := text(path)
	return call(sysOpenat2, uintptr(at), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
}

// cloneTree returns a detached copy of the mounts at an open path.
func cloneTree(fd int) (int, error) {
	return call(sysOpenTree, uintptr(fd), uintptr(unsafe.Pointer(text(""))), openTreeClone|openTreeCloexec|atRecursive|atEmptyPath)
}

// setAttr sets and clears attributes of a mount and all below it.
func setAttr(fd int, set, clear uint64) error {
	return mountSetattr(fd, atRecursive, [4]uint64{set, clear})
}

// setOwnAttr sets attributes of a single mount.
func setOwnAttr(fd int, set uint64) error { return mountSetattr(fd, 0, [4]uint64{set}) }

func mountSetattr(fd int, flags uintptr, attr [4]uint64) error {
	_, err := call(sysMountSetattr, uintptr(fd), uintptr(unsafe.Pointer(text(""))), atEmptyPath|flags,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	return err
}

// attach attaches a detached mount to an open path.
func attach(tree, to int) error {
	empty := uintptr(unsafe.Pointer(text("")))
	_, err := call(sysMoveMount, uintptr(tree), empty, uintptr(to), empty, moveFromEmpty|moveToEmpty)
	return err
}

// newFS makes a detached file system mount. options are pairs of key and value; an empty value
// means a flag.
func newFS(kind string, attrs uint64, options ...string) (int, error) {
	fs, err := call(sysFsopen, uintptr(unsafe.Pointer(text(kind))), fsCloexec)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(fs)
	for i := 0; i+1 < len(options); i += 2 {
		command, value := uintptr(fsconfigString), unsafe.Pointer(text(options[i+1]))
		if options[i+1] == "" {
			command, value = fsconfigFlag, nil
		}
		if _, err := call(sysFsconfig, uintptr(fs), command, uintptr(unsafe.Pointer(text(options[i]))), uintptr(value), 0); err != nil {
			return -1, err
		}
	}
	if _, err := call(sysFsconfig, uintptr(fs), fsconfigCreate, 0, 0, 0); err != nil {
		return -1, err
	}
	return call(sysFsmount, uintptr(fs), fsCloexec, uintptr(attrs))
}
