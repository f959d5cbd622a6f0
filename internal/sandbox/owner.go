//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"syscall"
)

// identity returns the device and inode, which distinguish a folder from a later one of the same
// name.
func identity(info fs.FileInfo) (dev, ino uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(st.Dev), st.Ino
}

func sameOwner(a, b string) bool {
	return owner(a) == owner(b) && owner(a) >= 0
}

func owner(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int64(st.Uid)
}

// strange reports whether a namespace that maps only this user does not know the owner or group.
func strange(uid, gid uint32) bool {
	return int(uid) != os.Geteuid() || int(gid) != os.Getegid()
}
