//go:build unix

package live

import (
	"fmt"
	"os"
	"syscall"
)

// private says why a folder is not the user's alone.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", dir)
	case !ok || int(st.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others may look into %s; chmod 700 keeps them out", dir)
	}
	return nil
}
