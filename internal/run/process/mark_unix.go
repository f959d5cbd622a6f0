//go:build unix

package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mark says how a file is, so that a change of it shows; only root can set back the time of its
// change.
func mark(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err.Error()
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mode, st.Uid, st.Mtim, st.Ctim)
}
