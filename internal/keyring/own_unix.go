//go:build unix

package keyring

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock has the opening of a pipe fail or return instead of waiting.
const nonblock = syscall.O_NONBLOCK

// own reports a file of this user.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
