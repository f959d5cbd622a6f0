//go:build unix

package config

import (
	"os"
	"syscall"
)

// foreign says why a file or folder is not only its owner's; empty: it is.
func foreign(name string, owner uint32) string {
	info, err := os.Stat(name)
	if err != nil {
		return "cannot be looked at: " + err.Error()
	}
	if about, ok := info.Sys().(*syscall.Stat_t); !ok || about.Uid != owner {
		return "does not belong to root"
	}
	if info.Mode().Perm()&0o022 != 0 {
		return "can be written by others than its owner"
	}
	return ""
}
