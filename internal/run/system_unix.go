//go:build unix

package run

import (
	"math"

	"golang.org/x/sys/unix"
)

// room returns the free bytes and files of dir's file system.
func room(dir string) (free, files uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	if files = uint64(s.Ffree); s.Files == 0 {
		files = math.MaxUint64 // files are allocated dynamically
	}
	return uint64(s.Bavail) * uint64(s.Bsize), files, nil
}

// mayWrite returns an error if the user cannot write path or it does not exist.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }
