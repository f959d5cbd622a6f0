package claims

import (
	"io/fs"
	"os"
	"path/filepath"
)

// mostLooked bounds a search for a file, in entries; beyond it a file is taken to be there.
const mostLooked = 50_000

// Below looks for files in a folder: at a name, or at the end of a longer one. It reads names
// alone.
func Below(dir string) func(name string) bool {
	return func(name string) bool {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return true
		}
		looked, found := 0, false
		err := filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
			if looked++; looked > mostLooked {
				found = true
			}
			if err == nil && entry.Name() == filepath.Base(name) && sameFile(filepath.ToSlash(at), name) {
				found = true
			}
			if found {
				return filepath.SkipAll
			}
			if err != nil && entry != nil && entry.IsDir() || err == nil && entry.IsDir() && entry.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		})
		return found || err != nil
	}
}
