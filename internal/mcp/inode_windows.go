package mcp

import (
	"io/fs"
	"syscall"
)

// inode tells a file from another of the same name: here by when it was made.
func inode(info fs.FileInfo) uint64 {
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return uint64(data.CreationTime.Nanoseconds())
	}
	return 0
}
