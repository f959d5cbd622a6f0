//go:build unix

package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mark returns a file's identity and state to detect changes; only root can reset the change time.
func mark(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err.Error()
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mode, st.Uid, st.Mtim, st.Ctim)
}
