//go:build unix

package doctor

import "golang.org/x/sys/unix"

// freeSpace returns the space available to the user below a folder, in bytes.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// terminalOfSystem names a terminal without TERM: unknown.
const terminalOfSystem = ""
