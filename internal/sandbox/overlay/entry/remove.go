package entry

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll removes a folder also where a command took the rights to it away. The kernel leaves its
// work folder without any.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
			if err != nil {
				return nil // it is read again below
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}
