//go:build unix

package doctor

import "golang.org/x/sys/unix"

// freeSpace is what the user may still write below a folder, in bytes.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// terminalOfSystem is the name of a terminal that says none: unknown.
const terminalOfSystem = ""
