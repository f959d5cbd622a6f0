//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"syscall"
)

// identity tells a folder from another one of the same name.
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

// strange reports an owner or group that a namespace of this user alone does not know.
func strange(uid, gid uint32) bool {
	return int(uid) != os.Geteuid() || int(gid) != os.Getegid()
}
