package namespace

import (
	"syscall"
	"unsafe"
)

// Landlock rights over files (linux/landlock.h).
const (
	mayExecute  = 1 << 0
	mayWrite    = 1 << 1
	mayRead     = 1 << 2
	mayReadDir  = 1 << 3
	mayTruncate = 1 << 14
	mayIoctl    = 1 << 15

	ofFiles = mayExecute | mayWrite | mayRead | mayTruncate | mayIoctl

	leastABI = 3 // the first with truncation
	scopeABI = 6
	scopes   = 3 // abstract sockets and signals

	landlockVersion = 1
	ruleBelow       = 1
)

// handled returns all rights in a Landlock version.
func handled(abi int) uint64 {
	switch {
	case abi < 3:
		return 1<<14 - 1
	case abi < 5:
		return 1<<15 - 1
	}
	return 1<<16 - 1
}

// ABI returns the kernel's Landlock version, or 0.
func ABI() int {
	abi, err := call(sysLandlockCreate, 0, 0, landlockVersion)
	if err != nil {
		return 0
	}
	return abi
}

// Make makes the ruleset, which can restrict any number of threads in any process. The kernel
// refuses unknown rights, so the requested ones hold. A file that replaces another is not covered.
func (r Rules) Make() (set int, err error) {
	abi := ABI()
	if abi < leastABI {
		return -1, syscall.ENOSYS
	}
	attr := struct{ files, net, scoped uint64 }{files: handled(abi)}
	size := unsafe.Sizeof(attr.files)
	if abi >= scopeABI {
		attr.scoped, size = scopes, unsafe.Sizeof(attr)
	}
	set, err = call(sysLandlockCreate, uintptr(unsafe.Pointer(&attr)), size, 0)
	if err != nil {
		return -1, err
	}
	for _, path := range r.Read {
		err := allow(set, path, attr.files&(mayExecute|mayRead|mayReadDir))
		if err != nil && err != syscall.ENOENT && err != syscall.EACCES {
			_ = syscall.Close(set)
			return -1, &Fault{path, err}
		}
	}
	for _, path := range r.Write {
		if err := allow(set, path, attr.files); err != nil {
			_ = syscall.Close(set)
			return -1, &Fault{path, err}
		}
	}
	return set, nil
}

// enforce restricts the calling thread.
func (r Rules) enforce() error {
	set := r.Descriptor
	if set == 0 {
		made, err := r.Make()
		if err != nil {
			return err
		}
		defer syscall.Close(made)
		set = made
	}
	_, err := call(sysLandlockRestrict, uintptr(set), 0)
	return err
}

// Self is this program, even if its path is unreachable.
const Self = "/proc/self/exe"

// allow adds a rule for a file, or for a folder and its content.
func allow(set int, path string, rights uint64) error {
	flags := oPath | syscall.O_CLOEXEC | syscall.O_NOFOLLOW
	if path == Self {
		flags &^= syscall.O_NOFOLLOW
	}
	fd, err := syscall.Open(path, flags, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		return nil // a link needs no right, only its target
	case syscall.S_IFDIR:
	default:
		rights &= ofFiles
	}
	// struct landlock_path_beneath_attr is packed: 8 bytes and 4.
	rule := struct {
		rights uint64
		fd     int32
	}{rights, int32(fd)}
	_, err = call(sysLandlockAdd, uintptr(set), ruleBelow, uintptr(unsafe.Pointer(&rule)), 0)
	return err
}
