//go:build unix

package run

import (
	"math"

	"golang.org/x/sys/unix"
)

// room is how much and how many files can still be written below a folder.
func room(dir string) (free, files uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	if files = uint64(s.Ffree); s.Files == 0 {
		files = math.MaxUint64 // it makes them as they are needed
	}
	return uint64(s.Bavail) * uint64(s.Bsize), files, nil
}

// mayWrite is an error where the user may not write a path, or nothing is there.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }
