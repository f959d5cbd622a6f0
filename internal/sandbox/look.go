//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// clockStep is more than the step of any file system's clock: what had changed less than this
// before it was looked at may have changed again without a trace.
const clockStep = 50 * time.Millisecond

// lookAt reports whether a path is there, without following a link at its end.
func lookAt(path string) (fs.FileInfo, bool) {
	info, err := os.Lstat(path)
	return info, err == nil
}

func there(path string) bool {
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

// realOf is a path free of links; if false, nothing is there, or it cannot be told.
func realOf(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	return real, err == nil && path != ""
}
