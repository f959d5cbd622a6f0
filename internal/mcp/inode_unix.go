//go:build unix

package mcp

import (
	"io/fs"
	"syscall"
)

// inode tells a file from another of the same name.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
