package live

import "os"

// private knows folders only: Windows gives those of a user to that user alone.
func private(dir string) error {
	_, err := os.Stat(dir)
	return err
}
