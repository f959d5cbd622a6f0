package entry

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll removes a folder even without permissions on its content, as in the kernel's work
// folder.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
			if err != nil {
				return nil // read again below
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}
