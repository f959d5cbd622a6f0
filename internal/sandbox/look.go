//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// clockStep is longer than any file system's clock step: an entry modified less than this before it
// was read may have changed again without a new time.
const clockStep = 50 * time.Millisecond

// lookAt reports whether a path exists, without following a link at its end.
func lookAt(path string) (fs.FileInfo, bool) {
	info, err := os.Lstat(path)
	return info, err == nil
}

func exists(path string) bool {
	_, ok := lookAt(path)
	return ok
}

func isLink(path string) bool {
	info, ok := lookAt(path)
	return ok && info.Mode()&fs.ModeSymlink != 0
}

func isFolderAt(path string) bool {
	info, ok := lookAt(path)
	return ok && info.IsDir()
}

// realOf resolves all links in a path. It returns false if the path does not exist or cannot be
// read.
func realOf(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	return real, err == nil && path != ""
}
