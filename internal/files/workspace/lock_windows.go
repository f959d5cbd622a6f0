package workspace

import (
	"fmt"
	"os"
	"path/filepath"
)

// noFollow is not needed: nobody else can create a link in the user's folder.
const noFollow = 0

// RuntimeDir returns the folder for this user's short-lived files, below the user's temporary
// folder.
func RuntimeDir() string { return filepath.Join(os.TempDir(), "adze") }

// ownFolder creates dir. The temporary folder is in the user's profile, which other users cannot
// change.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &Error{Code: IO, Message: fmt.Sprintf("lock folder %s: %v", dir, cause(err)), Err: err}
	}
	return nil
}
